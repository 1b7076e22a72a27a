// dragoman translate --document: a whole file, whose text is translated.
#pragma once

#include <string>

#include "app/translating.h"
#include "base/options.h"

namespace dragoman::internal {

struct DocumentOptions {
  std::string document, out, format, columns;
};

void declare(Section& own, DocumentOptions& options);

// `request`: the options of each text.
void translate_document(const DocumentOptions& o, const TranslatingOptions& translating,
                        const dragoman::Options& request);

}  // namespace dragoman::internal
