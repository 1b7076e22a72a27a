// The options of the library's requests as properties of a JSON body, by their flags' names.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "dragoman/options.h"
#include "serve/settings.h"

namespace dragoman::internal {

// A schema for each option that a client may set, within the server's limits.
nlohmann::ordered_json option_properties(const ServeLimits& limits);

// The same for requests to a language model.
nlohmann::ordered_json generation_properties(const ServeLimits& limits);

// Those that a valid body sets.
dragoman::Options options_in(const nlohmann::json& body);

// The schema of one option, from its description for people.
nlohmann::ordered_json option_schema(const OptionInfo& option);

}  // namespace dragoman::internal
