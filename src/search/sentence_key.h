// Everything that a search's result depends on, as bytes: searches with equal keys have equal results.
#pragma once

#include <string>

#include "search/request.h"

namespace dragoman::internal {

// The deadline and whether progress is reported are not part of it.
std::string sentence_key(const SearchRequest& request);

}  // namespace dragoman::internal
