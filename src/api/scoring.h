// The log-probability of given translations, in batches between the steps of a service.
#pragma once

#include <span>
#include <vector>

#include "api/service.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

std::vector<Score> score(Service& service, std::span<const dragoman::TextPair> pairs,
                         const ScoreSettings& settings);

}  // namespace dragoman::internal
