// Zip archives of given files.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dragoman::internal {

using Members = std::vector<std::pair<std::string, std::string>>;

template <class Number>
std::string little_endian(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// Stored, without a time.
inline std::string zip_of(const Members& members) {
  std::string files, directory;
  for (const auto& [name, bytes] : members) {
    const auto crc =
        static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    const std::string common = little_endian(uint16_t{20}) + little_endian(uint16_t{0}) +
                               little_endian(uint16_t{0}) + little_endian(uint32_t{0}) + little_endian(crc) +
                               little_endian(static_cast<uint32_t>(bytes.size())) +
                               little_endian(static_cast<uint32_t>(bytes.size())) +
                               little_endian(static_cast<uint16_t>(name.size())) + little_endian(uint16_t{0});
    directory += "PK\1\2" + little_endian(uint16_t{20}) + common + little_endian(uint16_t{0}) +
                 little_endian(uint16_t{0}) + little_endian(uint16_t{0}) + little_endian(uint32_t{0}) +
                 little_endian(static_cast<uint32_t>(files.size())) + name;
    files += "PK\3\4" + common + name + bytes;
  }
  const auto count = static_cast<uint16_t>(members.size());
  return files + directory + "PK\5\6" + little_endian(uint32_t{0}) + little_endian(count) +
         little_endian(count) + little_endian(static_cast<uint32_t>(directory.size())) +
         little_endian(static_cast<uint32_t>(files.size())) + little_endian(uint16_t{0});
}

}  // namespace dragoman::internal
