#include "serve/memories/writing.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/elapsed.h"
#include "base/lines.h"
#include "base/quotes.h"
#include "document/document.h"
#include "serve/api_keys.h"
#include "serve/settings.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

std::string trimmed_text(const std::string& text) { return std::string(trimmed(text).of(text)); }

}  // namespace

bool may_add(const ServeContext& context, const ServeCall& call) {
  const std::vector<std::string>& writers = context.settings.memory_writers;
  return writers.empty() || std::ranges::find(writers, call.client) != writers.end();
}

void check_may_add(const ServeContext& context, const ServeCall& call) {
  if (!may_add(context, call))
    throw ServeError(403, "this API key may not add to memories: ask the server's operator");
}

void add_segments(ServeContext& context, const ServeCall& call, const ServedMemory& memory,
                  std::vector<std::pair<std::string, std::string>> texts) {
  check_may_add(context, call);
  const std::string origin = context.keys.needed() ? call.client : "";
  const auto now = static_cast<int64_t>(seconds_since_1970());
  std::vector<std::string> sources;  // as many as segments: what the limit of texts counts
  size_t characters_of_targets = 0;
  std::vector<MemorySegment> segments;
  for (const auto& [source, target] : texts) {
    segments.push_back({trimmed_text(source), trimmed_text(target), origin, now});
    if (segments.back().source.empty()) throw ServeError(400, "a segment has no source: leave it out");
    if (!is_text(source) || !is_text(target))
      throw ServeError(400, "a segment has a NUL character: leave it out");
    sources.push_back(source);
    characters_of_targets += code_point_count(target);
  }
  take_characters(context, call.client, checked_characters(context, sources, characters_of_targets));
  memory.memory->add(segments);
}

std::shared_ptr<const ServedMemory> memory_to_add(const ServeContext& context, const std::string& from,
                                                  const std::string& to) {
  const ServedMemories memories = of_pair(context.memories.all(), from, to);
  if (memories.empty())
    throw ServeError(404, fmt::format("there is no memory from {} to {}: ask the server's operator for one",
                                      in_quotes(from), in_quotes(to)));
  return memories.front();
}

}  // namespace dragoman::internal
