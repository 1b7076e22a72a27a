// The bytes of a part of a memory: segments that no longer change, with what finds them.
//
//   texts      each segment's source, target and origin end to end, after their lengths and the date, as varints
//   begins     where each segment begins: 64 bits each
//   lengths    its words, at most 255: 8 bits each
//   keys       of the sources, ascending; then the segments that they belong to: 64 and 32 bits each
//   words      PartWord, ascending by number
//   places     for each word the segments that have it, as varints: the first, then the differences
//   PartFooter
//
// Each section begins at a multiple of 8. Byte order is the machine's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman::internal {

enum class PartSection { texts, begins, lengths, keys, owners, words, places };
inline constexpr size_t part_sections = 7;

struct PartWord {
  uint64_t number = 0;
  uint64_t begin = 0;     // of its places
  uint64_t segments = 0;  // that have it
};

struct PartFooter {
  std::array<uint64_t, part_sections + 1> begins = {};  // of each section, and the end of the last
  uint64_t segments = 0;
  uint64_t words = 0;         // of all segments
  uint64_t checksum = 0;      // of everything before this footer
  uint64_t own_checksum = 0;  // of the footer up to here
  std::array<char, 8> mark = {};
};
inline constexpr std::array<char, 8> part_mark = {'D', 'R', 'A', 'G', 'M', 'E', 'M', '1'};

inline void append_varint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

// Takes a number from the front; the bytes become empty, and the number 0, where it does not end.
inline uint64_t take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  bytes = {};
  return 0;
}

}  // namespace dragoman::internal
