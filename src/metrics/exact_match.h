// Exact match: the share of outputs that are the reference, for tasks whose outputs are right or wrong.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ascii.h"

namespace dragoman::internal {

struct ExactMatches {
  int64_t exact = 0, all = 0;

  // White space around the texts does not count.
  void add(std::string_view output, std::string_view reference) {
    constexpr std::string_view blanks = " \t\r\n";
    ++all;
    exact += stripped(output, blanks) == stripped(reference, blanks);
  }

  // 0 to 100; 0 where there are none.
  double percentage() const {
    return all == 0 ? 0 : 100 * static_cast<double>(exact) / static_cast<double>(all);
  }
};

}  // namespace dragoman::internal
