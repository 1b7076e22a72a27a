// memory evaluate: a file translated in its order, with a memory and without, and what each tenth of it scores. A
// memory that grows learns each line's reference after the line was translated, as it would with a translator at work.
#pragma once

#include <string>

#include "app/shared_options.h"
#include "app/translating.h"
#include "dragoman/memory.h"

namespace dragoman::internal {

struct MemoryEvaluation {
  TranslatingOptions translating;  // with the memory's folder, which stays as it is
  dragoman::Options request = {};  // besides the model's own
  std::string source, reference;
  bool growing = false;
  OutputFormat format = OutputFormat::text;
};

// Among the command's own flags.
void declare(Section& own, MemoryEvaluation& evaluation);

void evaluate_memory(const MemoryEvaluation& evaluation);

}  // namespace dragoman::internal
