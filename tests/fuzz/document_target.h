// The target of the documents: the first byte chooses the format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

std::string read_document(std::string_view bytes);
std::vector<std::string> document_seeds();

}  // namespace dragoman::internal
