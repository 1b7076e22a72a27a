// DeepL's API, so that its clients work unchanged where they let their users choose the address. docs/serving.md lists
// what is ignored.
#pragma once

#include <vector>

#include "serve/context.h"
#include "serve/route.h"

namespace dragoman::internal {

std::vector<Route> deepl_routes(ServeContext& context);

}  // namespace dragoman::internal
