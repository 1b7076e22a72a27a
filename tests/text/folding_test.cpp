#include "text/folding.h"

#include <gtest/gtest.h>

#include "text/vocabulary.h"

namespace dragoman::internal {
namespace {

Vocabulary vocabulary_of(std::string line) {
  return learn_vocabulary(
      {.kind = PieceKind::characters, .size = 60},
      [line = std::move(line)]() -> Sentences {
        return [&line, done = false]() mutable -> std::optional<std::string_view> {
          if (std::exchange(done, true)) return std::nullopt;
          return line;
        };
      },
      "source");
}

// Each subword's span covers what stands in the text, whatever it was read as.
TEST(Folding, ReadsUnknownCharactersAsPlainerOnes) {
  const Vocabulary vocabulary = vocabulary_of("It's a \"plain\" text - with... letters");
  for (const auto& [text, plain] : {std::pair("It’s a “text” – ", "It's a \"text\" - "),
                                    {"«It»—that‑is", "\"It\"-that-is"},
                                    {"„It“", "\"It\""},
                                    {"Ło’", "Ło'"},
                                    {"It's", "It's"}}) {
    const PiecesOfText pieces = encode_folded(text, vocabulary), wanted = vocabulary.encode_with_spans(plain);
    EXPECT_EQ(pieces.ids, wanted.ids) << text;
    ASSERT_EQ(pieces.spans.size(), wanted.spans.size());
    size_t end = 0;
    for (size_t i = 0; i < pieces.spans.size(); ++i) {
      EXPECT_LE(end, pieces.spans[i].begin) << text;
      end = pieces.spans[i].end;
      if (pieces.ids[i] != vocabulary.special().unknown &&
          wanted.spans[i].of(plain).size() == pieces.spans[i].of(text).size()) {
        EXPECT_EQ(vocabulary.decode(std::vector{pieces.ids[i]}),
                  vocabulary.decode(std::vector{wanted.ids[i]}));
      }
    }
    EXPECT_LE(end, std::string_view(text).size());
  }
}

// A vocabulary that has them reads them as they are.
TEST(Folding, LeavesKnownCharacters) {
  const Vocabulary vocabulary = vocabulary_of("It’s a “text” — with letters");
  EXPECT_EQ(encode_folded("It’s — “it”", vocabulary).ids, vocabulary.encode("It’s — “it”"));
}

}  // namespace
}  // namespace dragoman::internal
