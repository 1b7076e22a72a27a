#include "text/symbol_vocabulary.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "text/vocabulary.h"

namespace dragoman::internal {
namespace {

TEST(SymbolVocabulary, ANumberIsItsToken) {
  const Vocabulary words(symbol_model(300), "symbols", BoundaryTokens{.start = 1, .end = -1});
  EXPECT_EQ(words.size(), 300);
  EXPECT_EQ(words.special(), (SpecialTokens{.unknown = 0, .start = 1, .end = -1}));
  EXPECT_EQ(words.encode("1 299 17  2"), (std::vector<int32_t>{1, 299, 17, 2}));
  EXPECT_EQ(words.encode("0 300 -1 x 1.5"), std::vector<int32_t>(5, 0));
  EXPECT_EQ(words.decode(std::vector<int32_t>{1, 299, 17, 2}), "1 299 17 2");
}

TEST(SymbolVocabulary, NeedsMarksThatItHas) {
  EXPECT_THROW(Vocabulary(symbol_model(5), "symbols"), Error);
  EXPECT_THROW(Vocabulary(symbol_model(5), "symbols", BoundaryTokens{.start = 5, .end = -1}), Error);
}

}  // namespace
}  // namespace dragoman::internal
