// Terms for a model that was trained to read them in its source (text/term_marks.h), which costs a search nothing.
#pragma once

#include <string_view>
#include <vector>

#include "search/segments.h"
#include "search/term_forms.h"

namespace dragoman::internal {

// Puts the first target of each term into the segments of a line. False: not all of the terms, as some overlap, are not
// in one segment as a whole, or would make it longer than the sources of the training.
bool add_to_sources(std::vector<GivenTerm> terms, std::string_view line, const SavedModel& model,
                    std::vector<Segment>& segments);

}  // namespace dragoman::internal
