#include "convert/huggingface/weights.h"

#include <utility>
#include <vector>

#include "convert/exported_tensor.h"
#include "convert/fairseq/names.h"
#include "model/safetensors.h"

namespace dragoman::internal {
namespace {

constexpr float never_chosen = -1e9F;  // a logit without probability

// Where our paper's columns, sines and cosines in turn, are among halves: their column's place here.
class Columns {
 public:
  explicit Columns(const ModelConfig& c)
      : half_(c.positions == Positions::sinusoidal ? static_cast<size_t>(c.d_model) / 2 : 0) {}

  size_t operator[](size_t theirs) const {
    if (half_ == 0) return theirs;
    return theirs < half_ ? 2 * theirs : 2 * (theirs - half_) + 1;
  }

 private:
  size_t half_;  // 0: nothing moves
};

bool reads_stream(const std::string& name) {
  return name.find("embedding.weight") != std::string::npos || name == "generator.weight" ||
         name.ends_with(".qkv.weight") || name.ends_with(".query.weight") ||
         name.ends_with(".key_value.weight") || name.ends_with(".inner.weight");
}

bool writes_stream(const std::string& name) {
  return name.find(".output.") != std::string::npos || name.find(".outer.") != std::string::npos ||
         name.find("norm.") != std::string::npos;
}

// The residual stream's columns in their order. What is within heads and feed-forward layers stays.
void reorder(const std::string& name, const Columns& columns, ExportedTensor& tensor) {
  const size_t rows = static_cast<size_t>(tensor.shape[0]), width = tensor.values.size() / rows;
  const bool by_row = writes_stream(name), by_column = reads_stream(name);
  const std::vector<float> old = tensor.values;
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < width; ++column)
      tensor.values[row * width + column] =
          old[(by_row ? columns[row] : row) * width + (by_column ? columns[column] : column)];
}

void insert_row(ExportedTensor& table, int64_t at, float value) {
  const int64_t width = std::ssize(table.values) / table.shape[0];
  table.values.insert(table.values.begin() + at * width, static_cast<size_t>(width), value);
  ++table.shape[0];
}

class Weights {
 public:
  void add(std::string name, std::vector<int64_t> shape, std::vector<float> values) {
    tensors_.push_back({std::move(name), std::move(shape), std::move(values)});
  }

  // Several of theirs, one after another.
  void add_parts(const std::vector<std::string>& names, const ExportedTensor& tensor) {
    std::vector<int64_t> shape = tensor.shape;
    shape[0] /= std::ssize(names);
    const auto size = std::ssize(tensor.values) / std::ssize(names);
    for (size_t i = 0; i < names.size(); ++i) {
      const auto begin = tensor.values.begin() + static_cast<int64_t>(i) * size;
      add("model." + names[i], shape, {begin, begin + size});
    }
  }

  void write(const std::string& path) const {
    std::vector<TensorEntry> entries;
    for (const auto& [name, shape, values] : tensors_)
      entries.push_back({name, Dtype::f32, shape, std::as_bytes(std::span(values))});
    write_safetensors(path, {{"format", "pt"}}, entries);
  }

 private:
  struct Named {
    std::string name;
    std::vector<int64_t> shape;
    std::vector<float> values;
  };
  std::vector<Named> tensors_;
};

void add_table(Weights& weights, const std::string& name, const ExportedTensor& table) {
  const char* theirs = name == "shared_embedding.weight"   ? "model.shared.weight"
                       : name == "source_embedding.weight" ? "model.encoder.embed_tokens.weight"
                       : name == "target_embedding.weight" ? "model.decoder.embed_tokens.weight"
                                                           : "lm_head.weight";
  weights.add(theirs, table.shape, table.values);
}

}  // namespace

void write_huggingface_weights(const std::string& path, SavedModel& model, std::optional<int64_t> padding) {
  const Columns columns(model.model.config);
  Weights weights;
  std::vector<float> bias(static_cast<size_t>(model.model.config.target_vocabulary), 0);
  for (const Parameter& parameter : model.model.parameters.list()) {
    ExportedTensor tensor = exported(model.device, parameter);
    if (parameter.name == "generator.bias") {
      bias = std::move(tensor.values);
      continue;
    }
    reorder(parameter.name, columns, tensor);
    if (parameter.role == Role::table) {
      if (padding) insert_row(tensor, *padding, 0);
      add_table(weights, parameter.name, tensor);
    } else {
      weights.add_parts(fairseq_names(parameter.name), tensor);
    }
  }
  if (padding) bias.insert(bias.begin() + *padding, never_chosen);
  weights.add("final_logits_bias", {1, std::ssize(bias)}, bias);
  weights.write(path);
}

}  // namespace dragoman::internal
