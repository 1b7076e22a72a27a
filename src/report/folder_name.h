// What a run or a model is called in figures and pages: by its folder.
#pragma once

#include <string>
#include <vector>

namespace dragoman::internal {

// The folder's name, with as many parent folders as it takes to tell it from the other ones of `folders`. In UTF-8.
std::string folder_name(const std::string& folder, const std::vector<std::string>& folders = {});

}  // namespace dragoman::internal
