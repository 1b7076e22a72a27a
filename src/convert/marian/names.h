// The tensors of Marian's Transformers that our parameters consist of, and their names.
#pragma once

#include <string>
#include <vector>

#include "convert/marian/file.h"
#include "model/config.h"
#include "nn/parameters.h"

namespace dragoman::internal {

// What the names depend on.
struct MarianNaming {
  bool shared_embeddings;  // of source and target
  NormOrder norm;
  bool untransposed_generator = false;  // in old models
};

// Of the tensors that a parameter consists of, side by side.
std::vector<std::string> marian_names(const MarianNaming& naming, const std::string& parameter);

struct MarianModel {
  std::string path;
  MarianFile file;
  MarianNaming naming;
};

// Side by side. An Error names the tensor that is missing or has another shape.
std::vector<ForeignTensor> marian_tensors(const MarianModel& model, const Parameter& parameter);

}  // namespace dragoman::internal
