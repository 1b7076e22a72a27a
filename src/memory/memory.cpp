#include "memory/memory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/new_file.h"
#include "memory/part_writer.h"
#include "memory/similarity.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_log_segments = 20'000;
constexpr uint32_t max_part_segments = 1'000'000;
constexpr double most_similar_but_not_exact = 0.99;
constexpr size_t candidates_of_part = 64;
constexpr size_t most_words_to_compare = 1000;  // the time that it takes grows with their square

std::string part_of(std::span<const MemorySegment> segments) {
  std::string bytes;
  PartWriter writer([&](std::string_view more) { bytes += more; });
  for (const MemorySegment& segment : segments)
    writer.add({segment.source, segment.target, segment.origin, segment.changed});
  writer.finish();
  return bytes;
}

uint32_t size_of(MemoryParts parts) {
  uint32_t size = 0;
  for (const auto& part : parts) size += part->size();
  return size;
}

void remove_file(const std::string& path) {
  std::error_code none;
  std::filesystem::remove(path, none);
}

}  // namespace

struct TranslationMemory::Lock {
  explicit Lock(const std::string& folder)
      : file(open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file < 0) throw Error("cannot open {}/lock: {}", folder, std::strerror(errno));
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return;
    close(file);
    throw Error("another process adds to {}: stop it, or send the segments to it", folder);
  }
  ~Lock() { close(file); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  int file;
};

TranslationMemory::TranslationMemory(const std::string& folder, MemoryAccess access)
    : folder_(folder), manifest_(read_manifest(folder)) {
  if (access == MemoryAccess::add) {
    lock_ = std::make_unique<Lock>(folder);
    manifest_ = read_manifest(folder);
    open_files();
    return;
  }
  // Another process may fold the log meanwhile, which removes files.
  for (int attempt = 0;; ++attempt) {
    try {
      open_files();
      return;
    } catch (const Error&) {
      const MemoryManifest now = read_manifest(folder);
      if (attempt == 10 || now.files == manifest_.files) throw;
      manifest_ = now;
    }
  }
}

TranslationMemory::~TranslationMemory() = default;

void TranslationMemory::open_files() {
  parts_.clear();
  for (const std::string& name : manifest_.parts) {
    const std::string path = folder_ + "/" + name;
    parts_.push_back(std::make_shared<const MemoryPart>(map_file(path), path));
  }
  parts_on_disk_ = parts_.size();
  const std::string log = folder_ + "/" + manifest_.log;
  const MemoryLogContents contents = read_log(log);
  index(contents.segments);
  if (lock_ != nullptr) log_ = std::make_unique<MemoryLog>(log, contents.bytes);
}

// Parts of like sizes are merged, so that there are few of them.
void TranslationMemory::index(std::span<const MemorySegment> segments) {
  if (segments.empty()) return;
  parts_.push_back(std::make_shared<const MemoryPart>(MemoryPart::of(part_of(segments))));
  while (parts_.size() >= parts_on_disk_ + 2) {
    const MemoryParts last = MemoryParts(parts_).last(2);
    if (last[0]->size() > 2 * last[1]->size()) break;
    std::string bytes;
    merge_parts(last, false, [&](std::string_view more) { bytes += more; });
    parts_.pop_back();
    parts_.back() = std::make_shared<const MemoryPart>(MemoryPart::of(std::move(bytes)));
  }
}

void TranslationMemory::add(std::span<const MemorySegment> segments) {
  CHECK(log_ != nullptr, "{} was opened to be read", folder_);
  const std::unique_lock lock(mutex_);
  log_->append(segments);
  index(segments);
  if (size_of(MemoryParts(parts_).subspan(parts_on_disk_)) >= max_log_segments) fold_log();
}

void TranslationMemory::fold() {
  CHECK(log_ != nullptr, "{} was opened to be read", folder_);
  const std::unique_lock lock(mutex_);
  if (parts_.size() > parts_on_disk_) fold_log();
}

// The new part takes in older ones that are not much larger.
void TranslationMemory::fold_log() {
  size_t first = parts_on_disk_;
  uint32_t size = size_of(MemoryParts(parts_).subspan(first));
  while (first > 0 && parts_[first - 1]->size() <= 2 * size &&
         parts_[first - 1]->size() + size <= max_part_segments)
    size += parts_[--first]->size();

  MemoryManifest next = manifest_;
  std::vector<std::string> former(next.parts.begin() + static_cast<std::ptrdiff_t>(first), next.parts.end());
  former.push_back(next.log);
  next.parts.resize(first);
  next.parts.push_back(next.new_name("segments"));
  next.log = next.new_name("log");
  const std::string path = folder_ + "/" + next.parts.back();
  NewFile file(path);
  merge_parts(MemoryParts(parts_).subspan(first), first == 0,
              [&](std::string_view bytes) { file.write(bytes); });
  file.finish();
  auto part = std::make_shared<const MemoryPart>(map_file(path), path);
  auto log = std::make_unique<MemoryLog>(folder_ + "/" + next.log, 0);
  write_manifest(folder_, next);  // from here on, the memory consists of the new files

  manifest_ = std::move(next);
  log_ = std::move(log);
  parts_.resize(first);
  parts_.push_back(std::move(part));
  parts_on_disk_ = parts_.size();
  for (const std::string& name : former) remove_file(folder_ + "/" + name);
}

std::vector<MemoryMatch> TranslationMemory::look_up(std::string_view source, const MemoryQuery& query) const {
  const std::shared_lock lock(mutex_);
  std::vector<MemoryMatch> matches = exact_matches(source, query);
  for (MemoryMatch& match : similar_matches(source, query)) {
    const bool is_known = std::ranges::any_of(
        matches, [&](const MemoryMatch& known) { return known.segment.source == match.segment.source; });
    if (!is_known) matches.push_back(std::move(match));
  }
  if (std::ssize(matches) > query.at_most)
    matches.resize(static_cast<size_t>(std::max<int64_t>(query.at_most, 0)));
  return matches;
}

std::optional<MemoryMatch> TranslationMemory::exact(std::string_view source, const MemoryQuery& query) const {
  const std::shared_lock lock(mutex_);
  std::vector<MemoryMatch> matches = exact_matches(source, query);
  if (matches.empty()) return std::nullopt;
  return std::move(matches.front());
}

std::vector<MemoryMatch> TranslationMemory::exact_matches(std::string_view source,
                                                          const MemoryQuery& query) const {
  std::vector<MemoryMatch> matches;
  const auto take = [&](const MemorySegmentView& segment) {
    if (!segment.target.empty()) matches.push_back({segment.copy(), 1, true});
  };
  if (const auto place = newest_place(parts_, source)) take(parts_[place->part]->segment(place->number));
  if (query.match_case && query.match_numbers) return matches;
  constexpr size_t most = 64;  // texts that are one number have one loose key
  const SegmentKey key = memory_key(source);
  const std::string strict = strict_form(source);
  const std::string form = loose_form(source, query.match_case, query.match_numbers);
  for (size_t part = parts_.size(); part-- > 0;) {
    for (const uint32_t number : parts_[part]->with_key(key, true, most)) {
      const MemorySegmentView segment = parts_[part]->segment(number);
      if (loose_form(segment.source, query.match_case, query.match_numbers) != form) continue;
      if (strict_form(segment.source) == strict) continue;  // it was the first
      if (newest_place(parts_, segment.source) == SegmentPlace{part, number}) take(segment);
    }
  }
  return matches;
}

std::vector<MemoryMatch> TranslationMemory::similar_matches(std::string_view source,
                                                            const MemoryQuery& query) const {
  std::vector<uint64_t> words = memory_words(source), distinct = words;
  if (words.size() > most_words_to_compare) return {};
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<MemoryMatch> matches;
  for (size_t part = parts_.size(); part-- > 0;) {
    for (const uint32_t number : parts_[part]->candidates(distinct, candidates_of_part)) {
      const MemorySegmentView segment = parts_[part]->segment(number);
      const double similar = similarity(words, memory_words(segment.source), query.at_least);
      if (similar == 0 || segment.target.empty()) continue;
      if (newest_place(parts_, segment.source) != SegmentPlace{part, number}) continue;
      matches.push_back({segment.copy(), std::min(similar, most_similar_but_not_exact), false});
    }
  }
  std::ranges::stable_sort(matches, std::greater<>(), &MemoryMatch::similarity);
  return matches;
}

void TranslationMemory::for_each(const std::function<void(const MemorySegmentView& segment)>& take) const {
  const std::vector<std::shared_ptr<const MemoryPart>> parts = [this] {
    const std::shared_lock lock(mutex_);
    return parts_;
  }();
  for_each_newest(parts, [&](const MemorySegmentView& segment) {
    if (!segment.target.empty()) take(segment);
  });
}

uint32_t TranslationMemory::size() const {
  const std::shared_lock lock(mutex_);
  return size_of(parts_);
}

void TranslationMemory::verify() const {
  const std::shared_lock lock(mutex_);
  for (const auto& part : parts_) part->verify();
}

}  // namespace dragoman::internal
