// LibreTranslate's API, so that its clients work unchanged. docs/serving.md lists where the answers differ.
#pragma once

#include <vector>

#include "serve/context.h"
#include "serve/route.h"

namespace dragoman::internal {

std::vector<Route> libretranslate_routes(ServeContext& context);

// A part of them: files, which are kept until they are fetched.
std::vector<Route> libretranslate_file_routes(ServeContext& context);

}  // namespace dragoman::internal
