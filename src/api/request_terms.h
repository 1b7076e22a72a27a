// The terms of a request, checked.
#pragma once

#include <vector>

#include "dragoman/translator.h"
#include "search/given_terms.h"

namespace dragoman::internal {

// A UsageError where a span is not in the text, or where a term has no target.
std::vector<GivenTerm> given_terms(const Request& request);

}  // namespace dragoman::internal
