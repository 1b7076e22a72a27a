// The fuzz target of glossaries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

std::string read_glossary_file(std::string_view bytes);
std::vector<std::string> glossary_seeds();

}  // namespace dragoman::internal
