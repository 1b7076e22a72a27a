// The targets of the importers as a whole: folders of other systems' models, packed into one text, and Argos's
// archives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

std::string read_importable(std::string_view bytes);
std::vector<std::string> importable_seeds();

std::string read_argos_package(std::string_view bytes);
std::vector<std::string> argos_package_seeds();

}  // namespace dragoman::internal
