#include "memory/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace dragoman::internal {
namespace {

constexpr size_t checksum_digits = 16;

std::string line_of(const MemorySegment& segment) {
  nlohmann::ordered_json json = {{"source", segment.source}, {"target", segment.target}};
  if (!segment.origin.empty()) json["origin"] = segment.origin;
  if (segment.changed != 0) json["changed"] = segment.changed;
  const std::string text = json_text(json);
  return checksum_of(text) + " " + text + "\n";
}

std::optional<MemorySegment> segment_of(std::string_view line) {
  if (line.size() <= checksum_digits) return {};
  const std::string_view text = line.substr(checksum_digits + 1);
  if (line.substr(0, checksum_digits) != checksum_of(text)) return {};
  const nlohmann::json json = parse_json(text);
  return MemorySegment{.source = json.at("source"),
                       .target = json.at("target"),
                       .origin = json.value("origin", ""),
                       .changed = json.value("changed", int64_t{0})};
}

}  // namespace

MemoryLog::MemoryLog(std::string path, size_t bytes)
    : path_(std::move(path)), file_(path_, O_WRONLY | O_CREAT), size_(bytes) {
  if (ftruncate(file_.number(), static_cast<off_t>(bytes)) != 0)
    throw Error("cannot write {}: {}", path_, std::strerror(errno));
}

void MemoryLog::append(std::span<const MemorySegment> segments) {
  std::string lines;
  for (const MemorySegment& segment : segments) lines += line_of(segment);
  size_t written = 0;
  while (written < lines.size()) {
    const ssize_t count = pwrite(file_.number(), lines.data() + written, lines.size() - written,
                                 static_cast<off_t>(size_ + written));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    written += static_cast<size_t>(count);
  }
  if (written == lines.size() && fdatasync(file_.number()) == 0) {
    size_ += lines.size();
    return;
  }
  const int reason = errno;
  static_cast<void>(ftruncate(file_.number(), static_cast<off_t>(size_)));
  throw Error("cannot write {}: {}", path_, std::strerror(reason));
}

MemoryLogContents read_log(const std::string& path) {
  const std::string bytes = read_file(path);
  MemoryLogContents contents;
  for (size_t line = 1; contents.bytes < bytes.size(); ++line) {
    const size_t end = bytes.find('\n', contents.bytes);
    if (end == bytes.npos) break;  // cut by a kill
    std::optional<MemorySegment> segment;
    try {
      segment = segment_of(std::string_view(bytes).substr(contents.bytes, end - contents.bytes));
    } catch (const nlohmann::json::exception&) {  // as a line that was changed
    }
    if (!segment && end + 1 == bytes.size()) break;
    if (!segment) throw Error("{} is damaged in line {}: remove that line", path, line);
    contents.segments.push_back(*std::move(segment));
    contents.bytes = end + 1;
  }
  return contents;
}

}  // namespace dragoman::internal
