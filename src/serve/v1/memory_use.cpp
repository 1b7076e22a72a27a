#include "serve/v1/memory_use.h"

#include <nlohmann/json.hpp>

#include "serve/memories/store.h"

namespace dragoman::internal {
void choose_memories(const ServeContext& context, const nlohmann::json& body, TextWork& work) {
  if (!body.contains("memory") || body["memory"] == true) return;
  work.memories.clear();
  if (body["memory"].is_string()) work.memories.push_back(context.memories.named(body["memory"]));
}

}  // namespace dragoman::internal
