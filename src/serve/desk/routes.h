// What translators' programs ask a memory for, as the services that they know answer: MyMemory's `get` and `set`, and
// the look-ups of tmserver and amaGama.
#pragma once

#include <vector>

#include "serve/context.h"

namespace dragoman::internal {

std::vector<Route> desk_routes(ServeContext& context);

// The routes of each.
std::vector<Route> mymemory_routes(ServeContext& context);
std::vector<Route> tmserver_routes(ServeContext& context);

}  // namespace dragoman::internal
