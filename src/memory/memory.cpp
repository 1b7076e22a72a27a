#include "memory/memory.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/new_file.h"
#include "memory/part_writer.h"
#include "memory/similarity.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_log_segments = 20'000;
constexpr uint32_t max_part_segments = 1'000'000;
constexpr double most_similar_but_not_exact = 0.99;
constexpr size_t candidates_of_part = 64;
constexpr size_t most_words_to_compare = 1000;      // the time that it takes grows with their square
constexpr size_t most_bytes_to_compare = 64 << 10;  // which bounds what is split into words

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

// None of a text that is too long to be compared, so that nothing is similar to it.
std::vector<uint64_t> words_to_compare(std::string_view text) {
  if (text.size() > most_bytes_to_compare) return {};
  std::vector<uint64_t> words = memory_words(text);
  if (words.size() > most_words_to_compare) words.clear();
  return words;
}

std::vector<MemoryMatch> exact_matches(MemoryParts parts, std::string_view source, const MemoryQuery& query) {
  std::vector<MemoryMatch> matches;
  const auto take = [&](const MemorySegmentView& segment) {
    if (!segment.target.empty()) matches.push_back({segment.copy(), 1, true});
  };
  if (const auto place = newest_place(parts, source)) take(parts[place->part]->segment(place->number));
  if (query.match_case && query.match_numbers) return matches;
  constexpr size_t most = 64;  // texts that are one number have one loose key
  const SegmentKey key = memory_key(source);
  const std::string strict = strict_form(source);
  const std::string form = loose_form(source, query.match_case, query.match_numbers);
  for (size_t part = parts.size(); part-- > 0;) {
    const std::span<const uint32_t> same_key = parts[part]->with_key(key, true);
    std::vector<uint32_t> newest(std::min(most, same_key.size()));
    std::ranges::partial_sort_copy(same_key, newest, std::greater());
    for (const uint32_t number : newest) {
      const MemorySegmentView segment = parts[part]->segment(number);
      if (loose_form(segment.source, query.match_case, query.match_numbers) != form) continue;
      if (strict_form(segment.source) == strict) continue;  // it was the first
      if (newest_place(parts, segment.source) == SegmentPlace{part, number}) take(segment);
    }
  }
  return matches;
}

std::vector<MemoryMatch> similar_matches(MemoryParts parts, std::string_view source,
                                         const MemoryQuery& query) {
  std::vector<uint64_t> words = words_to_compare(source), distinct = words;
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<MemoryMatch> matches;
  for (size_t part = parts.size(); part-- > 0;) {
    for (const uint32_t number : parts[part]->candidates(distinct, candidates_of_part)) {
      const MemorySegmentView segment = parts[part]->segment(number);
      const double similar = similarity(words, words_to_compare(segment.source), query.at_least);
      if (similar == 0 || segment.target.empty()) continue;
      if (newest_place(parts, segment.source) != SegmentPlace{part, number}) continue;
      matches.push_back({segment.copy(), std::min(similar, most_similar_but_not_exact), false});
    }
  }
  std::ranges::stable_sort(matches, std::greater<>(), &MemoryMatch::similarity);
  return matches;
}

}  // namespace

TranslationMemory::TranslationMemory(const std::string& folder, MemoryAccess access)
    : folder_(folder), manifest_(read_manifest(folder)) {
  if (access == MemoryAccess::add) {
    lock_.emplace(folder);
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
  index(parts_, contents.segments);
  in_log_ = contents.segments.size();
  if (lock_) log_ = std::make_unique<MemoryLog>(log, contents.bytes);
}

// What they are now. They never change themselves, so nobody waits while they are searched.
TranslationMemory::Parts TranslationMemory::current_parts() const {
  const std::shared_lock lock(reading_);
  return parts_;
}

void TranslationMemory::replace_parts(Parts parts) {
  const std::unique_lock lock(reading_);
  parts_.swap(parts);
}

// Parts of like sizes are merged, so that there are few of them.
void TranslationMemory::index(Parts& parts, std::span<const MemorySegment> segments) const {
  if (segments.empty()) return;
  parts.push_back(std::make_shared<const MemoryPart>(MemoryPart::of(part_of(segments))));
  while (parts.size() >= parts_on_disk_ + 2) {
    const MemoryParts last = MemoryParts(parts).last(2);
    if (last[0]->size() > 2 * last[1]->size()) break;
    std::string bytes;
    merge_parts(last, false, [&](std::string_view more) { bytes += more; });
    parts.pop_back();
    parts.back() = std::make_shared<const MemoryPart>(MemoryPart::of(std::move(bytes)));
  }
}

void TranslationMemory::add(std::span<const MemorySegment> segments) {
  CHECK(lock_, "{} was opened to be read", folder_);
  const std::lock_guard adding(adding_);
  restore_manifest();
  Parts parts = parts_;
  index(parts, segments);
  log_->append(segments);
  replace_parts(std::move(parts));

  in_log_ += segments.size();
  if (in_log_ < not_folded_ + max_log_segments) return;
  try {
    fold_log();
  } catch (const Error& error) {
    not_folded_ = in_log_;
    log_warning(
        "the segments added to {} stay in its log, which cannot be merged now: {}; if the disk is full, free "
        "space",
        folder_, error.what());
  }
}

void TranslationMemory::fold() {
  CHECK(lock_, "{} was opened to be read", folder_);
  const std::lock_guard adding(adding_);
  restore_manifest();
  if (parts_.size() > parts_on_disk_) fold_log();
}

// Nothing may be added to a log that the manifest on the disk does not name.
void TranslationMemory::restore_manifest() {
  if (is_manifest_uncertain_) write_manifest(folder_, manifest_);
  is_manifest_uncertain_ = false;
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
  Parts parts(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(first));
  parts.push_back(std::make_shared<const MemoryPart>(map_file(path), path));
  auto log = std::make_unique<MemoryLog>(folder_ + "/" + next.log, 0);
  is_manifest_uncertain_ = true;
  write_manifest(folder_, next);  // from here on, the memory consists of the new files
  is_manifest_uncertain_ = false;

  // Not its languages, which others read meanwhile.
  manifest_.parts = std::move(next.parts);
  manifest_.log = std::move(next.log);
  manifest_.files = next.files;
  log_ = std::move(log);
  parts_on_disk_ = parts.size();
  in_log_ = not_folded_ = 0;
  replace_parts(std::move(parts));
  for (const std::string& name : former) remove_file(folder_ + "/" + name);
}

std::vector<MemoryMatch> TranslationMemory::look_up(std::string_view source, const MemoryQuery& query) const {
  const Parts parts = current_parts();
  std::vector<MemoryMatch> matches = exact_matches(parts, source, query);
  for (MemoryMatch& match : similar_matches(parts, source, query)) {
    const bool is_known = std::ranges::any_of(
        matches, [&](const MemoryMatch& known) { return known.segment.source == match.segment.source; });
    if (!is_known) matches.push_back(std::move(match));
  }
  if (std::ssize(matches) > query.at_most)
    matches.resize(static_cast<size_t>(std::max<int64_t>(query.at_most, 0)));
  return matches;
}

std::optional<MemoryMatch> TranslationMemory::exact(std::string_view source, const MemoryQuery& query) const {
  std::vector<MemoryMatch> matches = exact_matches(current_parts(), source, query);
  if (matches.empty()) return std::nullopt;
  return std::move(matches.front());
}

void TranslationMemory::for_each(const std::function<void(const MemorySegmentView& segment)>& take) const {
  for_each_newest(current_parts(), [&](const MemorySegmentView& segment) {
    if (!segment.target.empty()) take(segment);
  });
}

uint32_t TranslationMemory::size() const { return size_of(current_parts()); }

void TranslationMemory::verify() const {
  const Parts parts = current_parts();
  for (const auto& part : parts) part->verify();
}

}  // namespace dragoman::internal
