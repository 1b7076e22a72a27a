// Self-contained HTML pages: styles, scripts and data are inlined. Their sources are the files of web/, which are part
// of the program (cmake/embed.cmake).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace dragoman::internal {

// A file of web/ by its name, which must exist.
std::string_view embedded_file(std::string_view name);

// The page `name` of web/. Replaces the comment with each file's name by that file, and the comment "data" by the data,
// escaped so that its text cannot end the script.
std::string page_with_data(std::string_view name, std::initializer_list<std::string_view> files,
                           const nlohmann::ordered_json& data);

}  // namespace dragoman::internal
