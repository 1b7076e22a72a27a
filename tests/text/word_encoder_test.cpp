#include "text/word_encoder.h"

#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "text/toy_text.h"

namespace dragoman::internal {
namespace {

// For all kinds of spaces, characters and vocabularies.
TEST(WordEncoder, GivesTheVocabularysIds) {
  TemporaryFolder quiet;
  std::vector<std::string> lines = toy_text(400).source_lines;
  const auto open = [&lines]() -> Sentences {
    return [&lines, next = size_t{0}]() mutable -> std::optional<std::string_view> {
      if (next == 400) return std::nullopt;
      return lines[next++];
    };
  };
  for (const char* odd : {"", " ", "  ka  lo ", "\tka\tlo", "ka\u00a0lo", "ka \u200b lo", "\u200b",
                          "x\u00b4y \u00b4 z", "☃", "☃ ☃☃ ka☃ ☃ka", "ｋａ　ｌｏ", "½ … ﬁ",
                          "<s> </s> <unk> <0x41>", "▁ka ▁ ▁▁", "e\u0301 \u0301", "\u2028ka\u2028", "ka\r"}) {
    lines.push_back(odd);
  }
  lines.push_back(std::string(200, 'k') + " lo " + std::string(200, 'k'));
  for (const PieceKind kind : {PieceKind::bpe, PieceKind::unigram, PieceKind::characters, PieceKind::words}) {
    for (const bool bytes : {false, true}) {
      if (bytes && kind == PieceKind::words) continue;
      const VocabularyConfig config = {.kind = kind, .size = bytes ? 320 : 60, .byte_fallback = bytes};
      const Vocabulary vocabulary = learn_vocabulary(config, open, "source");
      WordEncoder encoder(vocabulary);
      for (int round = 0; round < 2; ++round) {
        for (const std::string& line : lines) {
          EXPECT_EQ(encoder.encode(line), vocabulary.encode(line)) << static_cast<int>(kind) << ": " << line;
        }
      }
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
