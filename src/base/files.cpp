#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/replacement.h"

namespace dragoman::internal {

namespace fs = std::filesystem;

namespace {

// Pipes and devices are written to directly: nobody wants /dev/null replaced by a file.
bool is_special(const std::string& path) {
  std::error_code ignored;
  return fs::is_other(fs::status(path, ignored));
}

void flush_folder(const fs::path& folder) {
  Descriptor(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY).flush();
}

// Disks and network file systems have lost writes that they reported as done.
void check_written(const std::string& path, const Contents& contents) {
  Descriptor file(path, O_RDONLY);
  std::vector<char> buffer(1 << 18);
  bool same = true;
  contents([&](std::string_view part) {
    while (same && !part.empty()) {
      const size_t n = file.read_some(buffer.data(), std::min(buffer.size(), part.size()));
      same = n > 0 && std::memcmp(buffer.data(), part.data(), n) == 0;
      part.remove_prefix(n);
    }
  });
  if (same && file.read_some(buffer.data(), 1) == 0) return;
  throw Error("{} reads back differently from what was written: check the disk", path);
}

void write_and_rename(const std::string& temporary, const std::string& path, const Contents& contents) {
  {
    Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    keep_permissions(path, file.number());
    contents([&](std::string_view part) { file.write_all(part); });
    file.flush();
  }
  check_written(temporary, contents);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    throw Error("cannot rename {} to {}: {}", temporary, path, std::strerror(errno));
  }
}

}  // namespace

std::string without_final_slashes(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

std::string behind_links(const std::string& path) {
  std::error_code none;
  return fs::is_symlink(path, none) && fs::exists(path, none) ? fs::canonical(path).string() : path;
}

std::string read_file(const std::string& path) {
  Descriptor file(path, O_RDONLY);
  std::string contents;
  char buffer[1 << 16];
  while (const size_t n = file.read_some(buffer, sizeof buffer)) contents.append(buffer, n);
  return contents;
}

void write_file(const std::string& path, const std::vector<std::string_view>& parts) {
  stream_to_file(path, [&](const auto& take) { std::ranges::for_each(parts, take); });
}

void stream_to_file(const std::string& wanted, const Contents& contents) {
  if (is_special(wanted)) {
    Descriptor device(wanted, O_WRONLY);
    contents([&](std::string_view part) { device.write_all(part); });
    return;
  }
  const std::string path = behind_links(wanted);
  const std::string temporary = replacement_name(path);
  try {
    write_and_rename(temporary, path, contents);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
  flush_folder(fs::path(path).parent_path());  // the new name, too
}

bool is_named(int file, const std::string& path) {
  struct stat open_one = {}, named_one = {};
  return fstat(file, &open_one) == 0 && stat(path.c_str(), &named_one) == 0 &&
         open_one.st_ino == named_one.st_ino && open_one.st_dev == named_one.st_dev;
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::vector<fs::path> missing;
  for (fs::path at = fs::absolute(path); !fs::exists(at, error) && at.has_relative_path();
       at = at.parent_path())
    missing.push_back(at);
  fs::create_directories(path, error);
  if (error) throw Error("cannot create the folder {}: {}", path, error.message());
  for (const fs::path& made : missing) flush_folder(made.parent_path());
}

// Not a loop over the iterator itself, whose errors lack the path.
std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> entries;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    entries.push_back(entry->path().string());
  if (error) throw Error("cannot read the folder {}: {}", folder, error.message());
  return entries;
}

void check_readable(const std::string& file) {
  std::error_code none;
  if (fs::is_directory(file, none)) throw Error("cannot read {}: it is a folder; name a file in it", file);
  if (access(file.c_str(), R_OK) != 0) throw Error("cannot read {}: {}", file, std::strerror(errno));
}

void check_writable(const std::string& file) {
  std::error_code none;
  if (fs::is_directory(file, none)) throw Error("cannot write {}: it is a folder; name a file in it", file);
  const fs::path written =
      is_special(file) ? fs::path(file) : fs::path(behind_links(file)).parent_path() / ".";
  if (access(written.c_str(), W_OK) != 0) throw Error("cannot write {}: {}", file, std::strerror(errno));
}

void check_writable_folder(const std::string& folder) {
  fs::path there = fs::absolute(folder);
  std::error_code none;
  while (!fs::exists(there, none) && there.has_relative_path()) there = there.parent_path();
  if (access((there / ".").c_str(), W_OK) != 0)
    throw Error("cannot write into the folder {}: {}", folder, std::strerror(errno));
}

}  // namespace dragoman::internal
