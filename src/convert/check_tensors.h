// Whether a file has the tensors of the model that its configuration describes, and no others. A variant with more
// weights, such as adapters, further norms or experts, would be imported without them and translate wrongly.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "convert/files/tensors.h"
#include "convert/imported_model.h"

namespace dragoman::internal {

// A format's names for the tensors of a model.
struct TensorNames {
  // Those that one of our parameters may consist of, in any version of the format.
  std::function<std::vector<std::string>(const std::string& parameter)> of;
  // Whether a tensor may be there without belonging to a parameter: a copy of another one, or not a weight.
  std::function<bool(const std::string& name)> can_ignore;
  // Why a model with a tensor of this name is not supported.
  std::function<std::string(const std::string& name)> reason = {};
};

// An Error if a tensor is missing, has another shape, or does not belong to such a model. `path`: for messages.
void check_tensors(const ImportedModel& model, const std::string& path, const ForeignTensors& tensors,
                   const TensorNames& names);

}  // namespace dragoman::internal
