#include "serve/v1/memory_use.h"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "serve/memories/json.h"
#include "serve/memories/store.h"

namespace dragoman::internal {
namespace {

constexpr size_t lines_to_look_for = 20;  // of a text: a look-up takes two milliseconds in a large memory

}  // namespace

void choose_memories(const ServeContext& context, const nlohmann::json& body, TextWork& work) {
  if (!body.contains("memory") || body["memory"] == true) return;
  work.memories.clear();
  if (body["memory"].is_string()) work.memories.push_back(context.memories.named(body["memory"]));
}

void add_similar(std::string_view text, const ServedMemories& memories, TextResult& result) {
  const ServedMemories usable = of_pair(memories, result.from, result.to);
  if (usable.empty()) return;
  const auto is_known = [&](const MemoryMatch& match) {
    return std::ranges::any_of(result.memory, [&](const dragoman::MemorySegment& used) {
      return used.source == match.segment.source && used.target == match.segment.target;
    });
  };
  for (size_t line = 0; line < lines_to_look_for && !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    for (const MemoryMatch& match : look_up(usable, std::string(text.substr(0, end)), {.at_most = 3}))
      if (!is_known(match)) result.memory.push_back(used_segment(match));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace dragoman::internal
