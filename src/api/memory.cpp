#include "dragoman/memory.h"

#include <utility>

#include "api/guard.h"
#include "api/shared_memory.h"
#include "base/elapsed.h"
#include "base/error.h"
#include "base/lines.h"
#include "memory/memory.h"
#include "text/unicode.h"

namespace dragoman {
namespace {

internal::MemoryAccess access_to_memory(Memory::Access access) {
  return access == Memory::Access::add ? internal::MemoryAccess::add : internal::MemoryAccess::read;
}

}  // namespace

struct Memory::State {
  std::shared_ptr<const internal::TranslationMemory> memory;
  std::shared_ptr<internal::TranslationMemory> added_to = {};  // the same, where it was opened to add
};

Memory::Memory(const std::string& folder, Access access)
    : state_(internal::guarded([&] {
        auto memory = std::make_shared<internal::TranslationMemory>(folder, access_to_memory(access));
        return std::make_shared<State>(State{memory, access == Access::add ? memory : nullptr});
      })) {}

dragoman::Memory internal::memory_over(std::shared_ptr<const TranslationMemory> memory) {
  return dragoman::Memory(
      std::make_shared<dragoman::Memory::State>(dragoman::Memory::State{std::move(memory)}));
}

std::string Memory::folder() const { return state_->memory->folder(); }
std::string Memory::from() const { return state_->memory->from(); }
std::string Memory::to() const { return state_->memory->to(); }

std::vector<MemorySegment> Memory::look_up(std::string_view text, const Query& query) const {
  return internal::guarded([&] {
    const std::string as_read = internal::is_text(text) ? std::string(text) : internal::repaired(text);
    std::vector<MemorySegment> found;
    for (internal::MemoryMatch& match :
         state_->memory->look_up(as_read, {.at_most = query.at_most,
                                          .at_least = query.at_least,
                                          .match_case = query.match_case,
                                          .match_numbers = query.match_numbers}))
      found.push_back(
          {std::move(match.segment.source), std::move(match.segment.target), match.similarity, match.exact});
    return found;
  });
}

void Memory::add(std::span<const TextPair> segments, const std::string& origin) {
  internal::guarded([&] {
    if (!state_->added_to)
      throw internal::UsageError("{} was opened to be read: open it with Memory::Access::add",
                                 state_->memory->folder());
    const auto now = static_cast<int64_t>(internal::seconds_since_1970());
    std::vector<internal::MemorySegment> added;
    for (const auto& [source, target] : segments) {
      if (source.empty() || !internal::is_text(source) || !internal::is_text(target))
        throw internal::UsageError("segment {} has an empty source, or is not valid UTF-8", added.size() + 1);
      added.push_back({source, target, origin, now});
    }
    state_->added_to->add(added);
  });
}

}  // namespace dragoman
