// Imports packages of Argos Translate: an .argosmodel file, or the folder that it unpacks to. The model in it is
// CTranslate2's.
#pragma once

#include <string>

#include "convert/imported_model.h"

namespace dragoman::internal {

bool is_argos(const std::string& source);

ImportedModel import_argos(const ImportRequest& request);

}  // namespace dragoman::internal
