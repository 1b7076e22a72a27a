// The defaults that OpenNMT-py and its successor eole have in common.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "nn/positions.h"

namespace dragoman::internal {

inline constexpr int64_t opennmt_heads = 8, opennmt_d_ff = 2048;

// How the toolkits search: options of the search by name.
nlohmann::json opennmt_search();

// The positions, as a choice to be shown.
std::string described_positions(Positions positions);

}  // namespace dragoman::internal
