// The routes of Dragoman's own API, a file each.
#pragma once

#include "serve/context.h"

namespace dragoman::internal {

Route v1_translate_route(ServeContext& context);
Route v1_generate_route(ServeContext& context);
Route v1_models_route(ServeContext& context);
Route v1_score_route(ServeContext& context);
Route v1_inspect_route(ServeContext& context);
std::vector<Route> v1_memory_routes(ServeContext& context);
Route v1_memory_import_route(ServeContext& context);

// "from" and "to" of a body.
nlohmann::ordered_json language_properties();

}  // namespace dragoman::internal
