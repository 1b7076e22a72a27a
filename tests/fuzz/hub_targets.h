// The targets of what comes from the network: the indexes of published models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

std::string read_argos_index(std::string_view bytes);
std::vector<std::string> argos_indexes();

std::string read_firefox_index(std::string_view bytes);
std::vector<std::string> firefox_indexes();

}  // namespace dragoman::internal
