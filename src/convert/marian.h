// Models of Marian, and of its fork Bergamot, which Firefox has: model.npz or model.bin, vocabularies, and perhaps a
// decoder.yml and a shortlist. The source is the model's file, or the folder.
#pragma once

#include <string>

#include "convert/imported_model.h"

namespace dragoman::internal {

bool is_marian(const std::string& source);

// An Error names the file and the key that is missing, or that this program cannot express.
ImportedModel import_marian(const ImportRequest& request);

}  // namespace dragoman::internal
