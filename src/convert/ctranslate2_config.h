// The configuration of a Transformer that CTranslate2's variables describe.
#pragma once

#include "convert/ctranslate2_model.h"
#include "model/config.h"

namespace dragoman::internal {

// An Error names the variable that has another value than the models that can be imported.
ModelConfig ctranslate2_config(const CTranslate2Model& model);

}  // namespace dragoman::internal
