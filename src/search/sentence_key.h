// All that the result of a search depends on, as bytes: two searches with the same key find the same.
#pragma once

#include <string>

#include "search/request.h"

namespace dragoman::internal {

// The deadline and whether progress is reported are not part of it.
std::string sentence_key(const SearchRequest& request);

}  // namespace dragoman::internal
