#include "convert/files/packed.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr size_t block = size_t{1} << 20;

bool is_packed(std::span<const std::byte> bytes) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 2)) ==
         gzip_magic;
}

// Up to `limit` bytes.
std::string unpacked(const std::string& path, uint64_t limit) {
  const std::unique_ptr<ByteSource> source = open_bytes(path);
  std::string all;
  while (all.size() < limit) {
    const size_t before = all.size();
    all.resize(before + std::min<uint64_t>(block, limit - before));
    const size_t count = source->read(all.data() + before, all.size() - before);
    all.resize(before + count);
    if (count == 0) break;
  }
  return all;
}

std::string unpacked_whole(const std::string& path, uint64_t limit) {
  std::string all;
  try {
    all = unpacked(path, limit + 1);
  } catch (const Error& error) {
    throw Error("{}: {}", path, error.what());
  }
  if (all.size() > limit)
    throw Error("{} decompresses to more than {} bytes, the limit for this kind of file", path, limit);
  return all;
}

}  // namespace

SharedBytes open_packed(const std::string& path, uint64_t limit) {
  SharedBytes file = map_file(path);
  if (!is_packed(file.bytes)) return file;
  const auto owner = std::make_shared<const std::string>(unpacked_whole(path, limit));
  return {std::as_bytes(std::span(*owner)), owner};
}

std::string read_packed(const std::string& path, uint64_t limit) {
  const SharedBytes file = open_packed(path, limit);
  if (file.bytes.size() > limit)
    throw Error("{} has more than {} bytes, the limit for this kind of file", path, limit);
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

std::string beginning_of(const std::string& path, size_t size) {
  try {
    return unpacked(path, size);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace dragoman::internal
