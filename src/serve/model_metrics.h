// What each model's translator counts, for /metrics.
#pragma once

#include <vector>

#include "serve/metrics.h"
#include "serve/translations.h"

namespace dragoman::internal {

void print_models(MetricsPage& page, const std::vector<ServedModel>& models);

}  // namespace dragoman::internal
