#include "base/utf8.h"

#include <iterator>
#include <string_view>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

using std::string_view_literals::operator""sv;

TEST(Utf8Test, UnfinishedCharactersAreCountedWhereverATextIsCut) {
  constexpr std::string_view text = "aé€😀z";
  constexpr size_t begins_of_bytes[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
  static_assert(std::size(begins_of_bytes) == text.size());
  for (size_t size = 1; size < text.size(); ++size)
    EXPECT_EQ(unfinished_bytes(text.substr(0, size)), size - begins_of_bytes[size]) << size;
  EXPECT_EQ(unfinished_bytes(text), 0U);
  EXPECT_EQ(unfinished_bytes(""), 0U);
}

TEST(Utf8Test, BytesThatAreNoCharacterAreNotUnfinished) {
  for (const std::string_view text :
       {"a\x80"sv, "\x80\x80\x80\x80"sv, "\xC1"sv, "\xF5\x80"sv, "\xFF"sv, "\xC3\xA9\x80"sv})
    EXPECT_EQ(unfinished_bytes(text), 0U);
}

}  // namespace
}  // namespace dragoman::internal
