// TranslationMemory: what somebody has translated before, found again by what is to be translated now.
//
// A memory is a folder:
//
//   memory.json     its languages, its parts and its log; replaced as a whole
//   segments-N      a part (part.h): segments that no longer change
//   log-N           segments that were added since, a line each; folded into a part when there are many
//   lock            held by the one process that adds
//
// Of segments with the same source, which is the same text but for white space, the newest counts; one with an empty
// target removes the older ones. What add() has returned from is on the disk: a kill at any instant loses none of it. A
// line of the log that was cut by a kill is ignored; any other damage is an Error with the file.
//
// All of it may be called on several threads. However long add and fold take, only other calls of these wait
// for them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "memory/lock.h"
#include "memory/log.h"
#include "memory/manifest.h"
#include "memory/part_list.h"
#include "memory/segment.h"

namespace dragoman::internal {

struct MemoryQuery {
  int64_t at_most = 5;
  double at_least = 0.5;  // similarity
  // Whether a text in other letters, or with other numbers, is another one: otherwise it counts as exact, too.
  bool match_case = true, match_numbers = true;
};

struct MemoryMatch {
  MemorySegment segment;
  double similarity = 0;  // at most 0.99 unless it is exact
  bool exact = false;
};

enum class MemoryAccess { read, add };

class TranslationMemory {
 public:
  // Throws an Error if the folder is not a memory, is damaged, or, to add, if another process adds to it.
  TranslationMemory(const std::string& folder, MemoryAccess access);
  ~TranslationMemory();
  TranslationMemory(const TranslationMemory&) = delete;
  TranslationMemory& operator=(const TranslationMemory&) = delete;

  const std::string& from() const { return manifest_.from; }
  const std::string& to() const { return manifest_.to; }
  const std::string& folder() const { return folder_; }

  // The most similar segments first; of equals the newest.
  std::vector<MemoryMatch> look_up(std::string_view source, const MemoryQuery& query) const;

  // The first of these if it is exact, at a small part of the price.
  std::optional<MemoryMatch> exact(std::string_view source, const MemoryQuery& query) const;

  // Returns once they are on the disk. Makes a part of a long log; if that fails, they stay in the log, with
  // a warning.
  void add(std::span<const MemorySegment> segments);

  // All that count when it begins, the oldest first. However long `take` takes, others may add.
  void for_each(const std::function<void(const MemorySegmentView& segment)>& take) const;

  // How many there are, those that newer ones replace and that were not folded in yet among them.
  uint32_t size() const;

  // Reads every byte. Throws an Error if anything was changed.
  void verify() const;

  // Makes a part of the log, as happens by itself when the log is long.
  void fold();

 private:
  // From the oldest to the newest: first those on the disk, then those of the log.
  using Parts = std::vector<std::shared_ptr<const MemoryPart>>;

  void open_files();
  Parts current_parts() const;
  void replace_parts(Parts parts);
  void index(Parts& parts, std::span<const MemorySegment> segments) const;
  void fold_log();
  void restore_manifest();

  std::string folder_;
  std::optional<MemoryLock> lock_;  // to add
  MemoryManifest manifest_;         // whose languages never change
  std::unique_ptr<MemoryLog> log_;  // to add
  Parts parts_;
  size_t parts_on_disk_ = 0;
  size_t in_log_ = 0;                   // lines of the log, which may be more than the segments that count
  size_t not_folded_ = 0;               // of these, when the log could not be folded
  bool is_manifest_uncertain_ = false;  // whether the one on the disk is manifest_, after replacing it failed
  std::mutex adding_;                   // while any of these changes
  mutable std::shared_mutex reading_;   // of parts_, only while they are copied or replaced
};

}  // namespace dragoman::internal
