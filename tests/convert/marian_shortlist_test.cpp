#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convert/marian/shortlist.h"
#include "fixtures.h"

namespace dragoman::internal {
namespace {

template <class Number>
std::string list_of(const std::vector<Number>& numbers) {
  std::string bytes;
  for (const Number number : numbers) bytes += little(number);
  return bytes;
}

std::string with_checksum(const std::string& body) {
  uint64_t sum = 0;
  for (size_t at = 0; at + 8 <= body.size(); at += 8) {
    uint64_t value;
    std::memcpy(&value, body.data() + at, 8);
    sum ^= value + 0x9e3779b9 + (sum << 6) + (sum >> 2);
  }
  return little<uint64_t>(0xF11A48D5013417F5) + little(sum) + body;
}

std::string sample(const std::vector<uint64_t>& offsets = {0, 2, 2, 5},
                   const std::vector<uint32_t>& words = {4, 5, 0, 1, 6}) {
  return with_checksum(list_of<uint64_t>({2, 3, offsets.size(), words.size()}) + list_of(offsets) +
                       list_of(words));
}

Lexicon shortlist_of(const std::string& bytes, bool shared = false) {
  const TemporaryFolder folder;
  return read_marian_shortlist(folder.write("lex.bin", bytes), 3, 7, shared);
}

TEST(MarianShortlist, HasItsWords) {
  const Lexicon lexicon = shortlist_of(sample());
  EXPECT_EQ(lexicon.frequent, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(lexicon.translations, (std::vector<std::vector<int32_t>>{{4, 5}, {}, {0, 1, 6}}));
  EXPECT_EQ(shortlist_of(sample(), true).translations,
            (std::vector<std::vector<int32_t>>{{4, 5, 0}, {1}, {0, 1, 6, 2}}));
}

TEST(MarianShortlist, DamagedOnesAreRefused) {
  const auto refusal = [](const std::string& bytes) { return error_of([&] { shortlist_of(bytes); }); };
  expect_no_part_of(sample(), [](const std::string& path) { read_marian_shortlist(path, 3, 7, false); });
  std::string flipped = sample();
  flipped.back() ^= 1;
  for (const std::string& bytes :
       {std::string("the la 0.5\n"), sample({0, 2, 2, 6}), sample({1, 2, 2, 5}), sample({0, 3, 2, 5}),
        sample({0, 2, 2, ~uint64_t{0}}), sample({0, 2, 5}), sample({0, 2, 2, 5}, {4, 5, 0, 1, 7}),
        with_checksum(list_of<uint64_t>({2, 3, 4, ~uint64_t{0}}) + list_of<uint64_t>({0, 2, 2, 5})),
        with_checksum(list_of<uint64_t>({2, 3, ~uint64_t{0}, 5}) + list_of<uint64_t>({0, 2, 2, 5}))})
    EXPECT_NE(refusal(bytes), "");
  EXPECT_NE(refusal(sample({0, 2, 5})).find("belongs to another model"), std::string::npos);
  EXPECT_EQ(shortlist_of(with_checksum(list_of<uint64_t>({1'000'000, 3, 4, 5}) +
                                       list_of<uint64_t>({0, 2, 2, 5}) + list_of<uint32_t>({4, 5, 0, 1, 6})))
                .frequent.size(),
            7U);
}

}  // namespace
}  // namespace dragoman::internal
