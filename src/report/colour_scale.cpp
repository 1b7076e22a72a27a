#include "report/colour_scale.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dragoman::internal {
namespace {

constexpr int palette[][3] = {{68, 1, 84},    {71, 45, 123}, {59, 82, 139},  {44, 114, 142}, {33, 145, 140},
                              {40, 174, 128}, {94, 201, 98}, {173, 220, 48}, {253, 231, 37}};

}  // namespace

std::string scale_colour(double share) {
  constexpr int stops = std::size(palette);
  const double at = std::clamp(share, 0.0, 1.0) * (stops - 1);
  const int below = std::min(static_cast<int>(at), stops - 2);
  const auto mixed = [&](int channel) {
    const int low = palette[below][channel], high = palette[below + 1][channel];
    return static_cast<int>(std::lround(low + (at - below) * (high - low)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2));
}

std::vector<std::string> scale_colours(int count) {
  std::vector<std::string> colours;
  for (int i = 0; i < count; ++i) colours.push_back(scale_colour(static_cast<double>(i) / (count - 1)));
  return colours;
}

}  // namespace dragoman::internal
