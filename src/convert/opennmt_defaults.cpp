#include "convert/opennmt_defaults.h"

namespace dragoman::internal {

nlohmann::json opennmt_search() {
  return {{"beam", 5},          {"beam-ending", "top"}, {"length-penalty", 1},  {"penalty-form", "plain"},
          {"length-offset", 1}, {"max-length", 250},    {"max-length-ratio", 0}};
}

std::string described_positions(Positions positions) {
  return positions == Positions::sinusoidal ? "positions: sines and cosines in turn, from 0"
                                            : "positions: sines, then cosines, from 0";
}

}  // namespace dragoman::internal
