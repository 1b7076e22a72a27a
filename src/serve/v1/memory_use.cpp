#include "serve/v1/memory_use.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/quotes.h"
#include "serve/memories/store.h"
#include "serve/route.h"

namespace dragoman::internal {
void choose_memories(const ServeContext& context, const nlohmann::json& body, TextWork& work) {
  if (!body.contains("memory") || body["memory"] == true) return;
  work.memories.clear();
  if (!body["memory"].is_string()) return;
  const auto memory = context.memories.named(body["memory"]);
  const bool detected = work.from.empty() || work.from == "auto";
  if (!memory->has_pair(detected ? memory->memory->from() : work.from,
                        work.to.empty() ? memory->memory->to() : work.to))
    throw ServeError(400,
                     fmt::format("the memory {} is from {} to {}: leave it out, or translate between these",
                                 in_quotes(memory->name), memory->memory->from(), memory->memory->to()));
  work.memories.push_back(memory);
}

}  // namespace dragoman::internal
