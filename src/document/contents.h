// Which format a document has, as far as its bytes tell: names of files can be wrong.
#pragma once

#include <string_view>

namespace dragoman::internal {

// A package is a zip file with the parts of a document.
bool is_package(std::string_view bytes);

// The name of a format that only such a document can have; empty if the bytes do not tell. Of Microsoft's three it is
// "docx", since they have one reader.
std::string_view format_of_contents(std::string_view bytes);

}  // namespace dragoman::internal
