// Memory: what has been translated before, in a folder that `dragoman memory build` made (docs/memories.md).
//
//   dragoman::Memory memory("memories/mine", dragoman::Memory::Access::add);
//   const auto done = translator.submit({.text = text, .memory = &memory}).get();
//   memory.add({.source = text, .target = corrected});
//
// Copies share one memory. All member functions may be called from any thread, also while others translate with it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dragoman/error.h"
#include "dragoman/export.h"
#include "dragoman/translator.h"

namespace dragoman {

class DRAGOMAN_API Memory {
 public:
  enum class Access { read, add };

  // Throws an Error where the folder is not a memory or is damaged; to add, where another process adds to it.
  explicit Memory(const std::string& folder, Access access);
  explicit Memory(const std::string& folder) : Memory(folder, Access::read) {}

  std::string folder() const;
  std::string from() const;  // the languages
  std::string to() const;

  struct Query {
    int64_t at_most = 5;
    double at_least = 0.5;  // similarity
    bool match_case = true, match_numbers = true;
  };
  // The most similar segments first; exact ones before all others.
  std::vector<MemorySegment> look_up(std::string_view text, const Query& query) const;
  std::vector<MemorySegment> look_up(std::string_view text) const { return look_up(text, Query{}); }

  // On the disk when it returns. Of segments with the same source the newest counts; an empty target removes them.
  // `origin`: who or what they are from.
  void add(std::span<const TextPair> segments, const std::string& origin = "");
  void add(const TextPair& segment, const std::string& origin = "") { add(std::span(&segment, 1), origin); }

  struct State;
  explicit Memory(std::shared_ptr<State> state) : state_(std::move(state)) {}  // for the library itself

 private:
  std::shared_ptr<State> state_;
};

}  // namespace dragoman
