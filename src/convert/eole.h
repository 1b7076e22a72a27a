// Transformers of eole, the successor of OpenNMT-py: a folder with config.json, vocab.json and model.00.safetensors.
#pragma once

#include <string>

#include "convert/imported_model.h"

namespace dragoman::internal {

bool is_eole(const std::string& folder);

// An Error names the file and the key or tensor that is missing, or that this program cannot express.
ImportedModel import_eole(const ImportRequest& request);

}  // namespace dragoman::internal
