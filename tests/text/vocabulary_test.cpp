#include "text/vocabulary.h"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sentencepiece_processor.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/files.h"
#include "temporary_folder.h"
#include "text/spm_file.h"
#include "text/toy_text.h"
#include "text/unicode.h"
#include "text/vocabulary_checksums.h"
#include "text/word_encoder.h"

namespace dragoman::internal {
namespace {

std::function<Sentences()> all_of(const std::vector<std::string>& lines) {
  return [&lines]() -> Sentences {
    return [&lines, next = size_t{0}]() mutable -> std::optional<std::string_view> {
      if (next == lines.size()) return std::nullopt;
      return lines[next++];
    };
  };
}

Vocabulary learn(const VocabularyConfig& config, const std::vector<std::string>& lines) {
  return learn_vocabulary(config, all_of(lines), "source");
}

std::string error_of(const VocabularyConfig& config, const std::vector<std::string>& lines) {
  try {
    learn(config, lines);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class VocabularyTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  const std::vector<std::string> lines = toy_text(400).source_lines;
};

// A control token that is a character of the text.
TEST_F(VocabularyTest, ATextThatCannotBeSplitIsAnError) {
  std::string model = spm_file({"a b c"}, 8, {0, 1, 2});
  const size_t at = model.find("<s>");
  ASSERT_NE(at, std::string::npos);
  model.replace(at, 3, "\u3042");
  const Vocabulary vocabulary(model, "control.spm");
  EXPECT_THROW(vocabulary.encode("a \u3042"), Error);
  EXPECT_THROW(vocabulary.encode_with_spans("a \u3042"), Error);
  EXPECT_FALSE(vocabulary.encode("a b").empty());
}

class EveryKind : public VocabularyTest, public testing::WithParamInterface<PieceKind> {};

TEST_P(EveryKind, RoundTripsTextAndIsReproducible) {
  const VocabularyConfig config = {.kind = GetParam(), .size = 70};
  const Vocabulary vocabulary = learn(config, lines);
  EXPECT_LE(vocabulary.size(), 70);
  EXPECT_EQ(vocabulary.piece(unknown_id), "<unk>");
  EXPECT_EQ(vocabulary.piece(bos_id), "<s>");
  EXPECT_EQ(vocabulary.piece(eos_id), "</s>");
  for (const std::string& line : lines) {
    std::vector<int32_t> ids = vocabulary.encode(line);
    for (const int32_t id : ids)
      ASSERT_TRUE(id == unknown_id || (id > eos_id && id < vocabulary.size())) << id;
    ids.insert(ids.begin(), bos_id);
    ids.push_back(eos_id);
    EXPECT_EQ(vocabulary.decode(ids), line);
  }
  EXPECT_EQ(learn(config, lines).model(), vocabulary.model());
}

// The spans of a text's pieces are in order, and those of a decoded text's pieces cover it.
TEST_P(EveryKind, SpansCoverTheText) {
  const Vocabulary vocabulary = learn({.kind = GetParam(), .size = 70}, lines);
  for (const std::string& line :
       {lines[0], "  " + lines[1] + "   " + lines[2] + " ", lines[3] + " ☃ " + lines[3]}) {
    const PiecesOfText pieces = vocabulary.encode_with_spans(line);
    EXPECT_EQ(pieces.ids, vocabulary.encode(line));
    ASSERT_EQ(pieces.spans.size(), pieces.ids.size());
    size_t at = 0;
    for (size_t i = 0; i < pieces.ids.size(); ++i) {
      const auto [begin, end] = pieces.spans[i];
      ASSERT_LE(at, begin);
      ASSERT_LE(begin, end);
      at = end;
      std::string piece = vocabulary.piece(pieces.ids[i]), there = line.substr(begin, end - begin);
      if (piece.starts_with("▁")) piece.erase(0, 3);
      there.erase(0, there.find_first_not_of(' '));
      if (pieces.ids[i] == unknown_id) continue;
      EXPECT_EQ(there.substr(0, there.find(' ')), piece) << line;
    }
    EXPECT_LE(at, line.size());

    std::vector<int32_t> marked = pieces.ids;
    marked.insert(marked.begin() + 1, bos_id);
    marked.push_back(eos_id);
    const TextOfPieces decoded = vocabulary.decode_with_spans(marked);
    std::string joined;
    for (const TextSpan& span : decoded.spans)
      joined += decoded.text.substr(span.begin, span.end - span.begin);
    EXPECT_EQ(decoded.spans.size(), marked.size());
    EXPECT_EQ(joined, decoded.text);
    EXPECT_EQ(decoded.text, vocabulary.decode(pieces.ids));
    EXPECT_EQ(decoded.spans[1].begin, decoded.spans[1].end) << "a mark has no text";
  }
}

std::string name_of(const testing::TestParamInfo<PieceKind>& kind) {
  const char* names[] = {"Bpe", "Unigram", "Characters", "Words"};
  return names[static_cast<size_t>(kind.param)];
}
INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind,
                         testing::Values(PieceKind::bpe, PieceKind::unigram, PieceKind::characters,
                                         PieceKind::words),
                         name_of);

TEST_F(VocabularyTest, IsSmallerForSmallTexts) {
  EXPECT_LT(learn({.size = 5000}, {"aa ab", "ab ba"}).size(), 20);
  EXPECT_LT(learn({.kind = PieceKind::unigram, .size = 5000}, lines).size(), 5000);
  EXPECT_LT(learn({.kind = PieceKind::characters, .size = 5000}, lines).size(), 40);
}

TEST_F(VocabularyTest, TooSmallASizeNamesTheMinimum) {
  for (const PieceKind kind : {PieceKind::bpe, PieceKind::unigram}) {
    const std::string error = error_of({.kind = kind, .size = 8, .character_coverage = 1}, lines);
    EXPECT_NE(error.find("vocabulary.size is 8, but must be at least 19 for the 16 different characters of "
                         "the source text"),
              std::string::npos)
        << error;
  }
  EXPECT_NO_THROW(learn({.size = 19, .character_coverage = 1}, lines));
  EXPECT_NE(error_of({}, {}).find("no source text to learn"), std::string::npos);
}

TEST_F(VocabularyTest, RareWordsAreUnknown) {
  const std::vector<std::string> text = {"the cat , the dog", "the cat", "a bird ½"};
  const Vocabulary all = learn({.kind = PieceKind::words}, text);
  EXPECT_EQ(all.size(), 3 + 7);
  EXPECT_NE(all.id("▁½"), unknown_id);  // words are left as they are
  const Vocabulary frequent = learn({.kind = PieceKind::words, .min_frequency = 2}, text);
  EXPECT_EQ(frequent.size(), 3 + 2);
  EXPECT_EQ(frequent.encode("the cat"), (std::vector<int32_t>{frequent.id("▁the"), frequent.id("▁cat")}));
  EXPECT_EQ(frequent.encode("the dog ran"),
            (std::vector<int32_t>{frequent.id("▁the"), unknown_id, unknown_id}));
  EXPECT_EQ(frequent.decode(frequent.encode("the dog , cat")), "the ⁇ ⁇ cat");
  EXPECT_EQ(learn({.kind = PieceKind::words, .size = 4}, text).size(), 4);
  EXPECT_NE(error_of({.kind = PieceKind::words, .min_frequency = 9}, text).find("vocabulary.min_frequency"),
            std::string::npos);
}

const std::vector<std::string> sentences = {"It's \"well-known\", isn't it?", "(In 3.5 years), he said."};

TEST_F(VocabularyTest, ATokenizerSeparatesPunctuationAndPutsItBack) {
  const Vocabulary plain = learn({.kind = PieceKind::words}, sentences);
  EXPECT_EQ(plain.id("▁it"), unknown_id);
  EXPECT_EQ(plain.decode(plain.encode(sentences[0])), sentences[0]);
  const Vocabulary vocabulary =
      learn({.kind = PieceKind::words, .tokenizer = WordTokenizer::simple, .size = 0}, sentences);
  for (const char* word : {"▁it", "▁?", "▁well-known", "▁\"", "▁(", "▁3.5", "▁isn't"})
    EXPECT_NE(vocabulary.id(word), unknown_id) << word;
  for (const std::string& sentence : sentences) {
    std::vector<int32_t> ids = vocabulary.encode(sentence);
    EXPECT_EQ(std::ranges::count(ids, unknown_id), 0);
    EXPECT_EQ(WordEncoder(vocabulary).encode(sentence), ids);
    ids.insert(ids.begin(), bos_id);
    ids.push_back(eos_id);
    EXPECT_EQ(vocabulary.decode(ids), sentence);
  }
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("(the cat), he said")), "(⁇ ⁇), he said");
}

// Users count characters of their own text.
TEST_F(VocabularyTest, SpansOfTokenizedWordsAreThoseOfTheText) {
  const Vocabulary vocabulary =
      learn({.kind = PieceKind::words, .tokenizer = WordTokenizer::simple, .size = 0}, sentences);
  const std::string text = "  In 3.5  years, \"été\"?";
  const PiecesOfText pieces = vocabulary.encode_with_spans(text);
  std::vector<std::string> there;
  for (const auto& [begin, end] : pieces.spans) there.push_back(text.substr(begin, end - begin));
  EXPECT_EQ(there, (std::vector<std::string>{"In", "3.5", "years", ",", "\"", "été", "\"", "?"}));
  EXPECT_EQ(pieces.ids, vocabulary.encode(text));
  EXPECT_EQ(in_code_points(text, pieces.spans)[6], (TextSpan{21, 22}));

  std::vector<int32_t> ids = pieces.ids;
  ids.insert(ids.begin() + 2, bos_id);
  const TextOfPieces decoded = vocabulary.decode_with_spans(ids);
  EXPECT_EQ(decoded.text, "In 3.5 years, \"⁇\"?");
  there.clear();
  for (const auto& [begin, end] : decoded.spans) there.push_back(decoded.text.substr(begin, end - begin));
  EXPECT_EQ(there, (std::vector<std::string>{"In", " 3.5", "", " years", ",", " \"", "⁇", "\"", "?"}));
}

TEST_F(VocabularyTest, AFileKeepsItsTokenizer) {
  const VocabularyConfig config = {.kind = PieceKind::words, .tokenizer = WordTokenizer::simple};
  const Vocabulary vocabulary = learn(config, sentences);
  const auto shared = std::make_shared<const Vocabulary>(learn(config, sentences));
  write_vocabularies(folder.path(""), {shared, shared});
  EXPECT_EQ(read_vocabularies(folder.path("")).source->encode(sentences[0]), vocabulary.encode(sentences[0]));
  EXPECT_EQ(learn({.kind = PieceKind::words}, sentences).model().find("simple"), std::string::npos);

  sentencepiece::SentencePieceProcessor other_program;
  EXPECT_TRUE(other_program.LoadFromSerializedProto(vocabulary.model()).ok());
  EXPECT_EQ(other_program.GetPieceSize(), vocabulary.size());

  std::string later = vocabulary.model();
  later.replace(later.rfind("simple"), 6, "better");
  try {
    Vocabulary(later, "x.spm");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "x.spm needs a tokenizer that this version lacks: update dragoman");
  }
}

TEST_F(VocabularyTest, SizeZeroMeansAllWordsOrCharacters) {
  std::vector<std::string> text;
  for (int i = 0; i < 9000; ++i) text.push_back("word" + std::to_string(i) + " all");
  EXPECT_EQ(learn({.kind = PieceKind::words}, text).size(), 8000);
  EXPECT_EQ(learn({.kind = PieceKind::words, .size = 0}, text).size(), 3 + 9001);
  EXPECT_EQ(learn({.kind = PieceKind::words, .size = 0, .min_frequency = 2}, text).size(), 3 + 1);
  text = {""};
  for (char32_t c = U'\u4e00'; c < U'\u4e00' + 600; ++c) text[0] += to_utf8(c) + " ";
  EXPECT_EQ(learn({.kind = PieceKind::characters, .size = 300, .character_coverage = 1}, text).size(), 300);
  const VocabularyConfig all = {.kind = PieceKind::characters, .size = 0, .character_coverage = 1};
  EXPECT_EQ(learn(all, text).size(), 3 + 601);
  VocabularyConfig with_bytes = all;
  with_bytes.byte_fallback = true;
  EXPECT_EQ(learn(with_bytes, text).size(), 3 + 256 + 601);
}

TEST_F(VocabularyTest, ByteFallbackSpellsUnknownCharacters) {
  const Vocabulary without = learn({.size = 60}, lines);
  EXPECT_EQ(without.decode(without.encode("ka ☃")), "ka ⁇");
  const Vocabulary with = learn({.size = 330, .byte_fallback = true}, lines);
  EXPECT_EQ(with.decode(with.encode("ka ☃ 😀 lo")), "ka ☃ 😀 lo");
  EXPECT_TRUE(with.is_byte(with.encode("☃").back()));
}

TEST_F(VocabularyTest, CoverageDropsTheRarestCharacters) {
  std::vector<std::string> text(1000, "ab ba");
  text.push_back("z");
  EXPECT_EQ(learn({.kind = PieceKind::characters, .character_coverage = 0.99}, text).id("z"), unknown_id);
  EXPECT_NE(learn({.kind = PieceKind::characters, .character_coverage = 1}, text).id("z"), unknown_id);
}

TEST_F(VocabularyTest, FoldersHoldOneOrTwoVocabularies) {
  const auto one = std::make_shared<const Vocabulary>(learn({.size = 60}, lines));
  const auto two = std::make_shared<const Vocabulary>(learn({.size = 50}, lines));
  std::filesystem::create_directory(folder.path("shared"));
  std::filesystem::create_directory(folder.path("separate"));
  write_vocabularies(folder.path("shared"), {one, one});
  write_vocabularies(folder.path("separate"), {one, two});
  const Vocabularies shared = read_vocabularies(folder.path("shared"));
  EXPECT_TRUE(shared.shared());
  EXPECT_EQ(shared.source->model(), one->model());
  const Vocabularies separate = read_vocabularies(folder.path("separate"));
  EXPECT_FALSE(separate.shared());
  EXPECT_EQ(separate.source->size(), one->size());
  EXPECT_EQ(separate.target->size(), two->size());
  for (const Vocabularies& other : {Vocabularies{one, two}, Vocabularies{two, two}, Vocabularies{two, one}}) {
    write_vocabularies(folder.path("shared"), other);
    const Vocabularies read = read_vocabularies(folder.path("shared"));
    EXPECT_EQ(read.shared(), other.shared());
    EXPECT_EQ(read.source->size(), other.source->size());
    EXPECT_EQ(std::filesystem::exists(folder.path("shared/source.spm")), !other.shared());
  }
}

// One of the same size has other pieces.
TEST_F(VocabularyTest, AModelsConfigurationHasChecksums) {
  const auto one = std::make_shared<const Vocabulary>(learn({.size = 60}, lines));
  write_vocabularies(folder.path(""), {one, one});
  const nlohmann::json checksums = vocabulary_checksums(folder.path(""));
  EXPECT_EQ(checksums, (nlohmann::json{{"shared.spm", checksum_of(one->model())}}));
  folder.write("config.json", nlohmann::json{{"vocabulary_checksums", checksums}}.dump());
  EXPECT_TRUE(read_vocabularies(folder.path("")).shared());
  std::string other = one->model();
  const size_t piece = other.find("t");
  other[piece] = 'q';
  folder.write("shared.spm", other);
  try {
    read_vocabularies(folder.path(""));
    FAIL() << "another vocabulary";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(folder.path("shared.spm") + " is damaged"))
        << error.what();
  }
  folder.write("config.json", "{}");
  EXPECT_NO_THROW(read_vocabularies(folder.path(""))) << "of an earlier version";
}

TEST_F(VocabularyTest, SpecialTokensAreThoseOfTheModel) {
  EXPECT_EQ(learn({.size = 60}, lines).special(), (SpecialTokens{unknown_id, bos_id, eos_id}));
  const SpecialTokens special = {.unknown = 5, .start = 3, .end = 4};
  const Vocabulary vocabulary(spm_file(lines, 60, special), "x.spm");
  EXPECT_EQ(vocabulary.special(), special);
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    EXPECT_EQ(vocabulary.is_special(id), 3 <= id && id <= 5) << id;
  EXPECT_EQ(vocabulary.id("no piece"), 5);
  EXPECT_EQ(vocabulary.encode("☃").back(), 5);
  std::set<int32_t> used;
  for (const std::string& line : lines) {
    std::vector<int32_t> ids = vocabulary.encode(line);
    EXPECT_EQ(WordEncoder(vocabulary).encode(line), ids);
    used.insert(ids.begin(), ids.end());
    ids.insert(ids.begin(), special.start);
    ids.push_back(special.end);
    EXPECT_EQ(vocabulary.decode(ids), line);
  }
  EXPECT_LT(*used.begin(), 3) << "ordinary pieces";
}

TEST_F(VocabularyTest, MissingSpecialTokensAreAnError) {
  const auto error_of_file = [&](const SpecialTokens& special) -> std::string {
    folder.write("shared.spm", spm_file(lines, 60, special));
    try {
      read_vocabularies(folder.path(""));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const SpecialTokens no_start = {.unknown = 0, .start = -1, .end = 1};
  EXPECT_EQ(error_of_file({.unknown = 0, .start = 1, .end = 2}), "no error");
  EXPECT_NE(error_of_file({.unknown = 0, .start = 1, .end = -1}).find("no end-of-sentence token"),
            std::string::npos);
  EXPECT_NE(error_of_file(no_start).find("no start-of-sentence token"), std::string::npos);
  EXPECT_EQ(Vocabulary(spm_file(lines, 60, no_start), "a source's").special(), no_start);
}

TEST_F(VocabularyTest, InvalidFilesAreAnError) {
  EXPECT_THROW(Vocabulary::read(folder.path("none")), Error);
  EXPECT_THROW(Vocabulary("no model at all", "x.spm"), Error);
  const std::string model = learn({.size = 60}, lines).model();
  EXPECT_THROW(Vocabulary(model.substr(0, model.size() / 2), "x.spm"), Error);
}

}  // namespace
}  // namespace dragoman::internal
