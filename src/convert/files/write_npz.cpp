#include <zlib.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/files.h"
#include "convert/files/npz.h"

namespace dragoman::internal {
namespace {

constexpr uint64_t zip_limit = UINT32_MAX;  // of sizes and places without zip64, which Marian does not read
constexpr uint16_t zip_version = 20, date_of_1980 = 0x21;
constexpr size_t npy_alignment = 64;

template <class... Numbers>
std::string packed(Numbers... numbers) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return bytes;
}

// What a .npy file begins with. The data begin at a multiple of the alignment.
std::string npy_header(const NpzMember& member) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
                                   member.description, fmt::join(member.shape, ", "));
  if (member.shape.size() > 1) header.erase(header.rfind(",)"), 1);
  const size_t before = 10;  // the mark, the version and the header's size
  header.append(npy_alignment - (before + header.size() + 1) % npy_alignment, ' ');
  header += '\n';
  return "\x93NUMPY\1" + std::string(1, '\0') + packed(static_cast<uint16_t>(header.size())) + header;
}

uint32_t checksum_of(const std::string& header, std::span<const std::byte> data) {
  const auto* const first = reinterpret_cast<const Bytef*>(header.data());
  const auto* const rest = reinterpret_cast<const Bytef*>(data.data());
  return static_cast<uint32_t>(crc32_z(crc32_z(0, first, header.size()), rest, data.size()));
}

}  // namespace

void write_npz(const std::string& path, const std::vector<NpzMember>& members) {
  std::vector<std::string> headers;
  std::string directory;
  uint64_t place = 0;
  for (const NpzMember& member : members) {
    const std::string name = member.name + ".npy", npy = npy_header(member);
    const uint64_t size = npy.size() + member.data.size();
    if (place + size + name.size() > zip_limit)
      throw Error("{} would have more than 4 GiB, which a .npz of Marian cannot hold", path);
    const auto packed_size = static_cast<uint32_t>(size);
    const std::string common = packed(zip_version, uint16_t{0}, uint16_t{0}, uint16_t{0}, date_of_1980,
                                      checksum_of(npy, member.data), packed_size, packed_size,
                                      static_cast<uint16_t>(name.size()), uint16_t{0});
    directory += "PK\1\2" + packed(zip_version) + common +
                 packed(uint16_t{0}, uint16_t{0}, uint16_t{0}, uint32_t{0}, static_cast<uint32_t>(place)) +
                 name;
    headers.push_back("PK\3\4" + common + name + npy);
    place += headers.back().size() + member.data.size();
  }
  if (place > zip_limit || members.size() > UINT16_MAX)
    throw Error("{} would have more than 4 GiB, which a .npz of Marian cannot hold", path);
  const auto count = static_cast<uint16_t>(members.size());
  directory += "PK\5\6" + packed(uint32_t{0}, count, count, static_cast<uint32_t>(directory.size()),
                                 static_cast<uint32_t>(place), uint16_t{0});
  std::vector<std::string_view> parts;
  for (size_t i = 0; i < members.size(); ++i) {
    parts.emplace_back(headers[i]);
    parts.emplace_back(reinterpret_cast<const char*>(members[i].data.data()), members[i].data.size());
  }
  parts.emplace_back(directory);
  write_file(path, parts);
}

}  // namespace dragoman::internal
