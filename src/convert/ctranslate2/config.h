// The configuration of a Transformer that CTranslate2's variables describe.
#pragma once

#include "convert/ctranslate2/model.h"
#include "model/config.h"

namespace dragoman::internal {

// An Error names a variable whose value is not supported.
ModelConfig ctranslate2_config(const CTranslate2Model& model);

}  // namespace dragoman::internal
