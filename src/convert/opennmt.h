// Transformers of OpenNMT-py, versions 1 to 3: a checkpoint, MODEL.pt, that has its vocabularies.
#pragma once

#include <string>

#include "convert/imported_model.h"

namespace dragoman::internal {

bool is_opennmt(const std::string& source);

// SOURCE is the checkpoint, or its folder. An Error names the file and the option or tensor that is missing, or that
// this program cannot express.
ImportedModel import_opennmt(const ImportRequest& request);

}  // namespace dragoman::internal
