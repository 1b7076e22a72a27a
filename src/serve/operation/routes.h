// Endpoints for operators: liveness, readiness, metrics.
#pragma once

#include <functional>
#include <vector>

#include "serve/context.h"
#include "serve/operation/metrics.h"

namespace dragoman::internal {

// `print_more` adds what else is counted to /metrics.
std::vector<Route> operation_routes(ServeContext& context, std::function<void(MetricsPage&)> print_more);

}  // namespace dragoman::internal
