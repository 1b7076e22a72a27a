// A model's parameters as the tensors of Marian's files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convert/marian/names.h"
#include "search/saved_model.h"

namespace dragoman::internal {

// Row by row; products are x·W.
struct MarianTensor {
  int64_t rows, columns;
  std::vector<float> values;
};

struct MarianTensors {
  std::map<std::string, MarianTensor> by_name;
  bool in_integers =
      false;  // some were in 8 bits with a scale for each column, which Marian's matrices do not have
};

MarianNaming naming_of(const ModelConfig& config);

// An Error where the input of an SSRU has a bias that is not zero.
MarianTensors exported_tensors(SavedModel& model);

// Adds tokens that are never output until the target vocabulary's size is a multiple of 8, as the products of 8-bit
// integers need it. Returns that size.
int64_t pad_vocabulary(MarianTensors& tensors, const MarianNaming& naming);

}  // namespace dragoman::internal
