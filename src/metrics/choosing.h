// Choosing among hypotheses with a reference at hand: the translation of a teacher that is nearest to a person's.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// The places of all hypotheses, by falling sentence chrF, as sacreBLEU has it; of equal ones the first comes first.
std::vector<size_t> by_nearness(std::span<const std::string> hypotheses, std::string_view reference);

// The first of these. At least one hypothesis.
size_t nearest_to_reference(std::span<const std::string> hypotheses, std::string_view reference);

}  // namespace dragoman::internal
