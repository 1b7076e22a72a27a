// The options of a request, from their names to what the search takes.
#pragma once

#include "base/options.h"
#include "dragoman/options.h"
#include "search/options.h"

namespace dragoman::internal {

void declare_prefix_bias(Section& own, SearchOptions& options);

// What a request may set besides the options of every search (search/options.h).
void declare_request(Section& own, SearchOptions& options);

// The given options, with the model's defaults for the others. A UsageError where a name is unknown, a value out of
// range, or two do not fit together.
SearchOptions search_options(const dragoman::Options& given, const SearchOptions& of_model);

std::vector<OptionInfo> request_options();

}  // namespace dragoman::internal
