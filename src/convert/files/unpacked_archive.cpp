#include "convert/files/unpacked_archive.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/quotes.h"
#include "base/signals.h"
#include "convert/files/zip_archive.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

// Weights compress less than this, and no package is larger.
constexpr uint64_t unpacked_per_byte = 16, unpacked_always = 64 << 20, max_unpacked = uint64_t{32} << 30;

// Whether a name stays inside the folder: no absolute path, no "..", nothing that other systems read as either.
bool stays_inside(std::string_view name) {
  if (name.empty() || name.find_first_of(std::string_view("\\:\0", 3)) != name.npos) return false;
  const fs::path path(name);
  if (path.is_absolute()) return false;
  for (const fs::path& part : path)
    if (part == "..") return false;
  return true;
}

bool is_folder(std::string_view name) { return name.ends_with('/'); }

void check_sizes(const std::string& path, const ZipArchive& archive, uint64_t packed,
                 const std::function<bool(std::string_view)>& wanted) {
  const uint64_t limit = std::min(max_unpacked, unpacked_always + unpacked_per_byte * packed);
  uint64_t total = 0;
  for (const auto& [name, member] : archive.members()) {
    if (!wanted(name)) continue;
    if (member.size > limit || total + member.size > limit)
      throw Error("{} unpacks to more than the limit of {} MB", path, limit >> 20);
    total += member.size;
  }
}

void write(const fs::path& path, std::span<const std::byte> bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw Error("cannot write {}: is the disk full?", path.string());
}

void unpack(const std::string& path, const std::string& folder,
            const std::function<bool(std::string_view)>& wanted) {
  const SharedBytes file = map_file(path);
  ZipArchive archive(path, file);
  check_sizes(path, archive, file.bytes.size(), wanted);
  for (const auto& [name, member] : archive.members()) {
    if (is_folder(name) || !wanted(name)) continue;
    if (!stays_inside(name))
      throw Error("{} contains a file named {}, outside its folder", path, in_quotes(name));
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped before the model was imported");
    write(fs::path(folder) / name, archive.read(name).bytes);
  }
}

}  // namespace

UnpackedArchive::UnpackedArchive(const std::string& path,
                                 const std::function<bool(std::string_view name)>& wanted)
    : folder_("import") {
  try {
    unpack(path, folder(), wanted);
  } catch (const fs::filesystem_error& error) {
    throw Error("{} cannot be unpacked: {}", path, error.what());
  }
}

bool is_zip_file(const std::string& path) {
  return fs::is_regular_file(path) && ZipArchive::is_zip(map_file(path).bytes);
}

}  // namespace dragoman::internal
