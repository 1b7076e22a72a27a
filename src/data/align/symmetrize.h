// Links of two directions, combined into one set (Och and Ney, 2003; Koehn et al., 2005).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace dragoman::internal {

// Words by index.
struct Link {
  int32_t source = 0, target = 0;

  auto operator<=>(const Link&) const = default;
};

// The order in which links are kept: by target, then by source.
inline std::pair<int32_t, int32_t> by_target(const Link& link) { return {link.target, link.source}; }

enum class Symmetrization { grow_diag_final_and, grow_diag, intersection, unite, forward, backward };

// Each direction without a link twice. The result by target, then by source.
std::vector<Link> symmetrized(std::span<const Link> forward, std::span<const Link> backward, size_t sources,
                              size_t targets, Symmetrization symmetrization);

}  // namespace dragoman::internal
