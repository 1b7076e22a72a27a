// Transformers of fairseq: a checkpoint, model.pt, with dict.LANG.txt of both languages beside it.
#pragma once

#include <string>

#include "convert/imported_model.h"

namespace dragoman::internal {

bool is_fairseq(const std::string& source);

// SOURCE is the checkpoint, or its folder. An Error names the file and the option or tensor that is missing, or that
// this program cannot express.
ImportedModel import_fairseq(const ImportRequest& request);

}  // namespace dragoman::internal
