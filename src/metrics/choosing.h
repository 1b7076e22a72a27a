// Choosing among hypotheses with a reference at hand: the translation of a teacher that is nearest to a person's.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace dragoman::internal {

// The place of the hypothesis with the largest sentence chrF, as sacreBLEU has it; the first of equal ones. At least
// one hypothesis.
size_t nearest_to_reference(std::span<const std::string> hypotheses, std::string_view reference);

}  // namespace dragoman::internal
