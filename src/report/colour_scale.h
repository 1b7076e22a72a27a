// The colours of heat maps, from the lowest value to the highest: viridis, which is perceptually uniform, in
// greyscale and for colour-blind readers too. SVG figures and the page of `dragoman inspect` share it.
#pragma once

#include <string>
#include <vector>

namespace dragoman::internal {

// share: 0 is the least value, 1 the greatest.
std::string scale_colour(double share);

// `count` colours at equal distances, as "#rrggbb".
std::vector<std::string> scale_colours(int count);

}  // namespace dragoman::internal
