#include "convert/marian/exported_tensors.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "convert/exported_tensor.h"

namespace dragoman::internal {
namespace {

constexpr float never_output = -1e6F;  // a bias
constexpr int64_t vocabulary_multiple = 8;
constexpr const char* generator_bias = "decoder_ff_logit_out_b";

MarianTensor matrix_of(const Parameter& parameter, const ExportedTensor& theirs) {
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  if (parameter.role != Role::weight) return {rows, columns, theirs.values};
  MarianTensor matrix = {rows, columns, {}};
  matrix.values.reserve(theirs.values.size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      matrix.values.push_back(theirs.values[static_cast<size_t>(column * rows + row)]);
  return matrix;
}

MarianTensor columns_of(const MarianTensor& matrix, int64_t first, int64_t count) {
  MarianTensor part = {matrix.rows, count, {}};
  part.values.reserve(static_cast<size_t>(matrix.rows * count));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const auto begin = matrix.values.begin() + row * matrix.columns + first;
    part.values.insert(part.values.end(), begin, begin + count);
  }
  return part;
}

// The first half is the gate's.
MarianTensor gate_bias(const std::string& folder, const std::string& name, const MarianTensor& both) {
  const int64_t width = both.columns / 2;
  const MarianTensor of_input = columns_of(both, width, width);
  if (std::ranges::any_of(of_input.values, [](float value) { return value != 0; }))
    throw Error(
        "{}: {} is not zero for the input, which has no bias in Marian: train with model.ssru_input_bias = "
        "false",
        folder, name);
  return columns_of(both, 0, width);
}

bool has_one_scale(const ExportedTensor& tensor, size_t first, size_t count) {
  if (tensor.scales.empty()) return true;
  const auto begin = tensor.scales.begin() + static_cast<std::ptrdiff_t>(first);
  return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(count),
                     [&](float scale) { return scale == *begin; });
}

void add_parts(MarianTensors& tensors, const std::vector<std::string>& names, const ExportedTensor& theirs,
               const MarianTensor& whole, bool is_table) {
  const int64_t columns = whole.columns / std::ssize(names);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto first = static_cast<int64_t>(i) * columns;
    const int64_t scales = is_table ? whole.rows : columns;
    tensors.in_integers |= !has_one_scale(theirs, static_cast<size_t>(first), static_cast<size_t>(scales));
    tensors.by_name[names[i]] = names.size() == 1 ? whole : columns_of(whole, first, columns);
  }
}

}  // namespace

MarianNaming naming_of(const ModelConfig& config) {
  return {.shared_embeddings = has_shared_embedding(config), .norm = config.norm};
}

MarianTensors exported_tensors(SavedModel& model) {
  const MarianNaming naming = naming_of(model.model.config);
  MarianTensors tensors;
  for (const Parameter& parameter : model.model.parameters.list()) {
    const std::vector<std::string> names = marian_names(naming, parameter.name);
    const ExportedTensor theirs = exported(model.device, parameter);
    MarianTensor whole = matrix_of(parameter, theirs);
    if (parameter.name.ends_with("ssru.gate_and_input.bias"))
      whole = gate_bias(model.folder, parameter.name, whole);
    add_parts(tensors, names, theirs, whole, parameter.role == Role::table);
  }
  const int64_t target = model.model.config.target_vocabulary;
  tensors.by_name.try_emplace(generator_bias,
                              MarianTensor{1, target, std::vector<float>(static_cast<size_t>(target))});
  return tensors;
}

int64_t pad_vocabulary(MarianTensors& tensors, const MarianNaming& naming) {
  MarianTensor& embedding = tensors.by_name.at(naming.shared_embeddings ? "Wemb" : "decoder_Wemb");
  MarianTensor& bias = tensors.by_name.at(generator_bias);
  const int64_t size = (embedding.rows + vocabulary_multiple - 1) / vocabulary_multiple * vocabulary_multiple;
  embedding.rows = bias.columns = size;
  embedding.values.resize(static_cast<size_t>(size * embedding.columns));
  bias.values.resize(static_cast<size_t>(size), never_output);
  return size;
}

}  // namespace dragoman::internal
