// Inspection of a sentence, computed between the steps of a service.
#pragma once

#include <string>

#include "api/service.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

std::string inspect(Service& service, const std::string& text, const InspectionSettings& settings);

}  // namespace dragoman::internal
