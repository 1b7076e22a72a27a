// The fuzz targets of what clients send in bodies: forms, with files and without, and glossaries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

std::string read_multipart(std::string_view bytes);
std::vector<std::string> multipart_seeds();
std::string read_urlencoded(std::string_view bytes);
std::vector<std::string> urlencoded_seeds();
std::string read_client_glossary(std::string_view bytes);
std::vector<std::string> client_glossary_seeds();

}  // namespace dragoman::internal
