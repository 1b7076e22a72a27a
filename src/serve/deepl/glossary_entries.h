// Entries of glossaries as DeepL's clients send and fetch them: a source and a target a line, separated by a tab or a
// comma.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dragoman/glossary.h"

namespace dragoman::internal {

using GlossaryEntries = std::vector<dragoman::Glossary::Entry>;

void check_number_of_entries(size_t number);  // a ServeError of status 413 for more than 100,000

// Throw a ServeError of status 400 that names the line where it is not an entry or has the source of an earlier one,
// and of status 413 where there are too many.
GlossaryEntries entries_of_tsv(std::string_view text);
GlossaryEntries entries_of_csv(std::string_view text);  // RFC 4180; further columns name the languages

std::string tsv_of(const GlossaryEntries& entries);

}  // namespace dragoman::internal
