// Which memories a request for translations uses.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "serve/context.h"
#include "serve/translations.h"

namespace dragoman::internal {

// All memories, unless the body names one, or none. Throws a ServeError where there is none of that name, or it is of
// other languages than the work.
void choose_memories(const ServeContext& context, const nlohmann::json& body, TextWork& work);

}  // namespace dragoman::internal
