// dragoman translate --document: whole files, whose text is translated.
#pragma once

#include <string>
#include <vector>

#include "app/translating.h"
#include "base/options.h"

namespace dragoman::internal {

struct DocumentOptions {
  std::string document, out, format, columns;
  bool mark_unconfirmed = false;
};

void declare(Section& own, DocumentOptions& options);

// Files that are to be read as lines of text: throws a UsageError if one is a package, such as a Word document, and
// warns of those whose markup would be translated, too.
void check_are_lines(const std::vector<std::string>& files);

// One or several. `request`: the options of each text.
void translate_documents(const std::vector<std::string>& documents, const DocumentOptions& o,
                         const TranslatingOptions& translating, const dragoman::Options& request);

}  // namespace dragoman::internal
