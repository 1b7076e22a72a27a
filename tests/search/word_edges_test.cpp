#include "search/beam/word_edges.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

TEST(WordEdges, ATermBeginsBehindASpaceOrWhereNoneBelongs) {
  const std::string line = "c . , ' ( ) - » 1 三 人";
  const auto open = [&]() -> Sentences {
    return [&, done = false]() mutable -> std::optional<std::string_view> {
      return std::exchange(done, true) ? std::nullopt : std::optional<std::string_view>(line);
    };
  };
  const Vocabulary vocabulary = learn_vocabulary({.kind = PieceKind::characters, .size = 0}, open, "target");
  const WordEdges edges(vocabulary);
  const auto may_begin = [&](const char* left, const char* right) {
    return edges.may_begin(vocabulary.id(left), vocabulary.id(right));
  };
  for (const char* left : {".", ",", ")", "»", "'", "(", "-", "1", "c"})
    EXPECT_TRUE(may_begin(left, "▁")) << left;
  for (const char* left : {"▁", "'", "(", "-", "»"}) EXPECT_TRUE(may_begin(left, "c")) << left;
  for (const char* left : {".", ",", ")", "1", "c"}) EXPECT_FALSE(may_begin(left, "c")) << left;
  for (const char* left : {".", ",", ")", "人"}) EXPECT_TRUE(may_begin(left, "三")) << left;
}

}  // namespace
}  // namespace dragoman::internal
