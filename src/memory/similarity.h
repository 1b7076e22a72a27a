// How similar two segments are: 1 minus the share of words to change, insert or leave out to make one of the other.
#pragma once

#include <cstdint>
#include <vector>

namespace dragoman::internal {

// 0 where it would be below `at_least`, which saves work.
double similarity(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, double at_least);

}  // namespace dragoman::internal
