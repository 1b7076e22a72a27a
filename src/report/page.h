// HTML pages that need nothing beside them: styles, scripts and data stand inside.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace dragoman {

// The page `name` of web/, in which each of these files of web/ takes the place of a comment that is its name, and the
// data that of the comment "data". Text in the data stays text.
std::string page_with_data(std::string_view name, std::initializer_list<std::string_view> files,
                           const nlohmann::ordered_json& data);

}  // namespace dragoman
