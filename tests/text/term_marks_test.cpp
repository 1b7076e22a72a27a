#include "text/term_marks.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "text/toy_text.h"
#include "text/word_encoder.h"

namespace dragoman::internal {
namespace {

using Ids = std::vector<int32_t>;

Vocabulary learned(PieceKind kind) {
  static const ToyText text = toy_text(400);
  const auto open = []() -> Sentences {
    return [next = size_t{0}]() mutable -> std::optional<std::string_view> {
      if (next == text.source_lines.size()) return std::nullopt;
      return text.source_lines[next++];
    };
  };
  return learn_vocabulary_for_terms({.kind = kind, .size = kind == PieceKind::words ? 0 : 70}, open,
                                    "shared");
}

class TermMarksTest : public testing::TestWithParam<PieceKind> {
 protected:
  const Vocabulary vocabulary = learned(GetParam());
};

TEST_P(TermMarksTest, AreTokensThatNoTextHasAndNoOutput) {
  const auto marks = term_marks(vocabulary);
  ASSERT_TRUE(marks);
  EXPECT_EQ(vocabulary.suppressed(), (Ids{marks->begin, marks->is, marks->end}));
  WordEncoder encoder(vocabulary);
  const std::string text = "kalo <term> milo <is> kami </term>";
  for (const Ids& ids : {vocabulary.encode(text), encoder.encode(text)})
    for (const int32_t mark : vocabulary.suppressed()) EXPECT_EQ(std::ranges::count(ids, mark), 0);
  const Ids ids = {marks->begin, vocabulary.encode("kalo")[0], marks->is};
  EXPECT_EQ(vocabulary.decode(ids), vocabulary.decode(Ids{ids[1]}));
}

TEST_P(TermMarksTest, StandAroundTheTermAndItsTarget) {
  const auto [begin, is, end] = *term_marks(vocabulary);
  const std::string text = "kalo milo terka sunvar";
  const PiecesOfText plain = vocabulary.encode_with_spans(text);
  const std::vector<TermInText> terms = {{{5, 9}, "varsun"}, {{7, 12}, "loka"}, {{16, 22}, "kaka"}};
  const PiecesOfText pieces = with_terms(plain, terms, vocabulary);
  Ids expected;
  for (const char* const part : {"kalo", "<milo", "=varsun>", "terka", "<sunvar", "=kaka>"}) {
    std::string_view word = part;
    if (word[0] == '<') expected.push_back(begin);
    if (word[0] == '=') expected.push_back(is);
    word.remove_prefix(word[0] == '<' || word[0] == '=');
    const bool ends = word.ends_with('>');
    for (const int32_t id : vocabulary.encode(word.substr(0, word.size() - ends))) expected.push_back(id);
    if (ends) expected.push_back(end);
  }
  EXPECT_EQ(pieces.ids, expected);
  ASSERT_EQ(pieces.ids.size(), pieces.spans.size());
  const auto at = static_cast<size_t>(std::ranges::find(pieces.ids, is) - pieces.ids.begin());
  EXPECT_EQ(pieces.spans[at + 1], (TextSpan{5, 9}));
  EXPECT_EQ(with_terms(plain, {}, vocabulary).ids, plain.ids);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TermMarksTest,
                         testing::Values(PieceKind::bpe, PieceKind::unigram, PieceKind::words));

TEST(TermMarks, OnlyOfVocabulariesThatWereLearnedForThem) {
  const auto open = []() -> Sentences {
    return [next = 0]() mutable -> std::optional<std::string_view> {
      if (next++ == 3) return std::nullopt;
      return "a <term> b <is> c </term>";
    };
  };
  EXPECT_FALSE(term_marks(learn_vocabulary({.kind = PieceKind::words, .size = 0}, open, "shared")));
}

}  // namespace
}  // namespace dragoman::internal
