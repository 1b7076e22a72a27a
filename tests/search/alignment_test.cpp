// Translations beside their sources: which word comes from which, and what unknown ones become.
#include "search/alignment.h"

#include <algorithm>

#include "base/memory.h"
#include "search/model_folder.h"
#include "search/translate_lines.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using Pairs = std::vector<std::pair<size_t, size_t>>;

Pairs numbers(const std::vector<WordPair>& pairs) {
  Pairs result;
  for (const WordPair& pair : pairs) result.emplace_back(pair.source, pair.target);
  return result;
}

TEST(AlignWords, ByTheSumOfTheirPiecesAttention) {
  // "un|der stand" and "ver|steh ö": the pieces' weights add up within words.
  const std::vector<TextSpan> source = {{0, 2}, {2, 5}, {6, 11}, {11, 11}}, target = {{0, 3}, {3, 7}, {8, 9}};
  const std::vector<PieceAttention> attention = {
      {0, {0.3F, 0.3F, 0.4F, 0}}, {0, {0.1F, 0.1F, 0.3F, 0.5F}}, {0, {0, 0.2F, 0.3F, 0.5F}}};
  const auto pairs = align_words("under stand", source, "versteh ö", target, attention);
  EXPECT_EQ(numbers(pairs), (Pairs{{0, 0}, {1, 1}}));
  EXPECT_EQ(pairs[1].source_span, (TextSpan{6, 11}));
  EXPECT_EQ(pairs[1].target_span, (TextSpan{8, 9}));
  const std::vector<PieceAttention> second_part = {{2, {0.1F, 0.9F}}};
  EXPECT_EQ(numbers(align_words("under stand", source, "ö", {{0, 1}}, second_part)), (Pairs{{1, 0}}));
  EXPECT_TRUE(align_words(" ", {{0, 0}}, "ö", {{0, 1}}, {{0, {1}}}).empty()) << "there is only an end mark";
  const std::vector<PieceAttention> both_parts = {{0, {0.6F, 0.4F}}, {2, {0.7F, 0.3F}}};
  EXPECT_EQ(
      numbers(align_words("a b c d", {{0, 1}, {2, 3}, {4, 5}, {6, 7}}, "ab", {{0, 1}, {1, 2}}, both_parts)),
      (Pairs{{2, 0}}))
      << "a word of which each part of the line has a piece";
}

// Of a long line each piece saw its own part.
TEST(AlignWords, TakesMemoryForTheLineAlone) {
  constexpr size_t words = 6000, seen = 10;  // each word with each would be 144 MB
  std::string line;
  std::vector<TextSpan> spans;
  std::vector<PieceAttention> attention;
  for (size_t i = 0; i < words; ++i) {
    spans.push_back({line.size(), line.size() + 1});
    line += "a ";
    attention.push_back({i / seen * seen, std::vector<float>(seen, 0.05F)});
    attention.back().weights[i % seen] = 0.5F;
  }
  forget_peak_memory();
  const int64_t before = peak_memory();
  const auto pairs = align_words(line, spans, line, spans, attention);
  EXPECT_LT(peak_memory(), before + (int64_t{30} << 20));
  ASSERT_EQ(pairs.size(), words);
  for (size_t i = 0; i < words; ++i) EXPECT_EQ(std::pair(pairs[i].source, pairs[i].target), std::pair(i, i));
}

TEST(ReplaceUnknown, PutsTheSourcesWordWhereThePieceWas) {
  const Segment part = {.ids = {unknown_id, 7, unknown_id, eos_id},
                        .marks = {eos_id},
                        .spans = {{0, 3}, {3, 9}, {9, 14}, {14, 14}}};
  const std::string line = "Bob likes Zoë";
  const std::vector<std::vector<float>> first = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0.4F, 0.6F}};
  TextOfPieces said = {.text = " \u2047  aime \u2047 ", .spans = {{0, 5}, {5, 10}, {10, 15}}};
  TextOfPieces inside = {.text = "a \u2047 s", .spans = {{0, 1}, {1, 6}, {6, 7}}};
  replace_unknown(said, {unknown_id, 9, unknown_id}, unknown_id, first, line, part);
  EXPECT_EQ(said.text, "Bob aime Zoë");
  EXPECT_EQ(said.spans, (std::vector<TextSpan>{{0, 3}, {3, 8}, {8, 13}}));
  replace_unknown(inside, {8, unknown_id, 9}, unknown_id, first, line, part);
  EXPECT_EQ(inside.text, "a likes s");
  EXPECT_EQ(inside.spans[2], (TextSpan{8, 9}));
  const Segment city = {.ids = {8, unknown_id, 7, unknown_id, 9, 8, eos_id},
                        .marks = {eos_id},
                        .spans = {{0, 1}, {1, 3}, {3, 6}, {6, 8}, {8, 9}, {9, 12}, {12, 12}}};
  const std::vector<std::vector<float>> pieces = {{0, 1, 0, 0, 0, 0, 0},
                                                  {0, 0, 1, 0, 0, 0, 0},
                                                  {0, 0, 0, 1, 0, 0, 0},
                                                  {0, 0, 0, 0, 1, 0, 0},
                                                  {0, 0, 0, 0, 0, 1, 0}};
  TextOfPieces repeated = {.text = " \u2047  \u2047  \u2047 .",
                           .spans = {{0, 5}, {5, 10}, {10, 15}, {15, 16}}};
  replace_unknown(repeated, {unknown_id, unknown_id, unknown_id, 9}, unknown_id, pieces, "(Łódź) «", city);
  EXPECT_EQ(repeated.text, "Łódź .") << "one word once, without the brackets";
  EXPECT_EQ(repeated.spans, (std::vector<TextSpan>{{0, 8}, {0, 8}, {0, 8}, {8, 9}}));
  TextOfPieces mark = {.text = "\u2047", .spans = {{0, 3}}};
  replace_unknown(mark, {unknown_id}, unknown_id, {pieces[4]}, "(Łódź) «", city);
  EXPECT_EQ(mark.text, "«") << "punctuation stands for itself";
  TextOfPieces words = {.text = "(\u2047), \u2047!",
                        .spans = {{0, 1}, {1, 4}, {4, 5}, {5, 6}, {6, 10}, {10, 11}},
                        .of_words = true};
  const std::vector<std::vector<float>> names = {{0, 1, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0},
                                                 {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}};
  replace_unknown(words, {8, unknown_id, 9, 8, unknown_id, 9}, unknown_id, names, line, part);
  EXPECT_EQ(words.text, "(Bob), Zoë!") << "words keep their spacing";
  EXPECT_EQ(words.spans[4], (TextSpan{6, 11}));
  TextOfPieces lonely = {.text = " \u2047 ", .spans = {{0, 5}}};
  replace_unknown(lonely, {unknown_id}, unknown_id, {{1}}, "",
                  {.ids = {eos_id}, .marks = {eos_id}, .spans = {{0, 0}}});
  EXPECT_EQ(lonely.text, " \u2047 ") << "no word, nothing to put there";
}

class Aligned : public testing::Test {
 protected:
  std::vector<TranslatedLine> translate(const std::vector<std::string>& lines, const SearchOptions& options,
                                        int64_t sentences = 4, int threads = 1) const {
    SavedModel model(folder_.path, kernels_for(nullptr), threads);
    return translate_lines(model, lines, options, {.sentences = sentences});
  }

  const ModelFolder folder_{"model", 16};
  const std::vector<std::string> lines_ = {"The cat sleeps.",
                                           "",
                                           "Où est-ce?",
                                           " The dog. ",
                                           "It is cold.\u00A0 A dog barks at the cat at the station.",
                                           "the dog sleeps the dog sleeps the dog sleeps the dog sleeps"};
};

// Spans are of the whole line and the whole text, whatever parts they went through.
TEST_F(Aligned, SpansAreOfTheWholeLine) {
  const auto done = translate(lines_, {.beam = 2, .max_length = 12, .alignment = true});
  for (size_t i = 0; i < done.size(); ++i) {
    const std::u32string source = code_points(lines_[i]), text = code_points(done[i].translations[0].text);
    const std::vector<TextSpan> words = word_spans(lines_[i]);
    size_t covered = 0, at = 0;
    for (const SourcePiece& piece : done[i].pieces) {
      EXPECT_GE(piece.span.begin, at);
      EXPECT_LE(piece.span.end, source.size());
      covered += piece.span.end - piece.span.begin;
      at = piece.span.end;
    }
    EXPECT_EQ(covered,
              static_cast<size_t>(std::ranges::count_if(source, [](char32_t c) { return !is_space(c); })))
        << "every letter of \"" << lines_[i] << "\" is some piece's";
    for (const ScoredPiece& piece : done[i].translations[0].pieces) {
      EXPECT_LE(piece.span.end, text.size());
      EXPECT_LT(piece.aligned, done[i].pieces.size());
      EXPECT_NE(done[i].pieces[piece.aligned].piece, "</s>");
    }
    for (const WordPair& pair : done[i].translations[0].alignment)
      EXPECT_EQ(pair.source_span, words[pair.source]);
  }
  EXPECT_EQ(std::ranges::count(done[4].pieces, "</s>", &SourcePiece::piece), 3) << "three parts";
  EXPECT_TRUE(done[1].translations[0].alignment.empty());
}

// A word of each part of the output comes from a word of the same part of the source.
TEST_F(Aligned, PartsAreAlignedWithinThemselves) {
  const TranslatedLine whole =
      translate({"A dog barks. The cat sleeps. It is so."}, {.max_length = 9, .alignment = true})[0];
  const Translation& best = whole.translations[0];
  EXPECT_EQ(best.pieces.front().attention.first, 0U);
  EXPECT_GT(best.pieces.back().attention.first, 5U);
  for (const ScoredPiece& piece : best.pieces) {
    EXPECT_GE(piece.aligned, piece.attention.first);
    EXPECT_LT(piece.aligned, piece.attention.first + piece.attention.weights.size());
  }
}

TEST_F(Aligned, NothingDependsOnTheBatch) {
  for (const SearchOptions& options :
       {SearchOptions{.beam = 4, .nbest = 2, .max_length = 12, .alignment = true},
        SearchOptions{.beam = 4, .nbest = 2, .max_length = 12, .coverage_penalty = 1, .alignment = true}}) {
    const auto wanted = translate(lines_, options, 1);
    for (const int64_t sentences : {3, 32}) {
      const auto got = translate(lines_, options, sentences, 2);
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].translations.size(), wanted[i].translations.size());
        for (size_t n = 0; n < got[i].translations.size(); ++n) {
          const Translation &a = got[i].translations[n], &b = wanted[i].translations[n];
          EXPECT_EQ(a.text, b.text);
          EXPECT_EQ(a.score, b.score);
          ASSERT_EQ(a.pieces.size(), b.pieces.size());
          for (size_t p = 0; p < a.pieces.size(); ++p)
            EXPECT_TRUE(same_bits(a.pieces[p].attention.weights, b.pieces[p].attention.weights));
        }
      }
    }
  }
}

// Without the penalty the same candidates come in the search's order; with it they are sorted by score + β · coverage.
TEST_F(Aligned, CoverageChoosesAmongTheWholeBeam) {
  const std::vector<std::string> lines = {"The cat sleeps.", "A dog barks.",
                                          "It is cold."};  // of one part each
  SearchOptions options = {.beam = 6, .nbest = 6, .max_length = 4, .no_repeat_ngram = 3, .alignment = true};
  const auto plain = translate(lines, options);
  options.coverage_penalty = 50;
  const auto ranked = translate(lines, options);
  options.nbest = 1;
  const auto best = translate(lines, options);
  int moved = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(ranked[i].translations.size(), plain[i].translations.size());
    EXPECT_TRUE(std::ranges::is_sorted(ranked[i].translations, std::greater{}, &Translation::score));
    EXPECT_EQ(best[i].translations.size(), 1U);
    EXPECT_EQ(best[i].translations[0].text, ranked[i].translations[0].text);
    moved += ranked[i].translations[0].text != plain[i].translations[0].text;
    for (const Translation& t : ranked[i].translations) {
      const auto same = std::ranges::find(plain[i].translations, t.text, &Translation::text);
      ASSERT_NE(same, plain[i].translations.end());
      EXPECT_LT(t.score, same->score) << "something is always left out a little";
    }
  }
  EXPECT_GT(moved, 0);
}

// A model of words that knows few, and says that it does not: the names come through.
TEST(UnknownWords, AreTakenFromTheSource) {
  const ModelFolder folder("unknown_words", 40, true, {.kind = PieceKind::words, .size = 6, .shared = true});
  SavedModel model(folder.path, kernels_for(nullptr), 1);
  const auto translate = [&](bool replace) {
    const SearchOptions options = {.beam = 1, .max_length = 8, .replace_unknown = replace, .alignment = true};
    return translate_lines(model, {"Xavier naps"}, options, {},
                           "qqq the qqq")[0];  // which it has no words for
  };
  const TranslatedLine raw = translate(false), replaced = translate(true);
  const std::string mark = "\u2047";
  ASSERT_NE(raw.translations[0].text.find(mark), std::string::npos) << raw.translations[0].text;
  const std::string& text = replaced.translations[0].text;
  EXPECT_EQ(text.find(mark), std::string::npos) << text;
  EXPECT_TRUE(replaced.unknown) << "it is still said";
  const std::u32string points = code_points(text), source = code_points("Xavier naps");
  for (const ScoredPiece& piece : replaced.translations[0].pieces) {
    if (piece.piece != "<unk>") continue;
    const TextSpan from = replaced.pieces[piece.aligned].span;
    EXPECT_EQ(points.substr(piece.span.begin, piece.span.end - piece.span.begin),
              source.substr(from.begin, from.end - from.begin));
  }
}

}  // namespace
}  // namespace dragoman::internal
