// Which memories a request for translations uses, and what its answer says of them.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "serve/context.h"
#include "serve/translations.h"

namespace dragoman::internal {

// All memories, unless the body names one, or none. Throws a ServeError where there is none of that name.
void choose_memories(const ServeContext& context, const nlohmann::json& body, TextWork& work);

// Adds to the result the segments that are similar to the text's lines.
void add_similar(std::string_view text, const ServedMemories& memories, TextResult& result);

}  // namespace dragoman::internal
