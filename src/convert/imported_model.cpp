#include "convert/imported_model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/build.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/signals.h"
#include "model/folder.h"
#include "model/low_precision_file.h"
#include "model/transformer.h"
#include "model/weights.h"
#include "search/shortlist.h"
#include "text/vocabulary_checksums.h"

namespace dragoman::internal {
namespace {

constexpr int64_t block_size = 1 << 20;  // values that are converted at once

void check_not_stopped() {
  if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped before the model was imported");
}

void check_finite(const Parameter& parameter, const std::vector<float>& values) {
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
    throw Error("the model has values in {} that are not finite: it is damaged, or its training diverged",
                parameter.name);
}

void check_shapes(const Parameter& parameter, const std::vector<ForeignTensor>& parts) {
  int64_t columns = 0;
  for (const ForeignTensor& part : parts) {
    CHECK(part.shape.size() == 2 && part.shape[0] == parameter.value.rows(), "{}: {} rows, but a part is {}",
          parameter.name, parameter.value.rows(), describe(part));
    columns += part.shape[1];
  }
  CHECK(columns == parameter.value.columns(), "{}: {} columns, but its parts have {}", parameter.name,
        parameter.value.columns(), columns);
}

// Some rows of a parameter.
std::vector<float> values_of(const Parameter& parameter, const std::vector<ForeignTensor>& parts,
                             int64_t first, int64_t count) {
  check_not_stopped();
  check_shapes(parameter, parts);
  const int64_t columns = parameter.value.columns();
  std::vector<float> values(static_cast<size_t>(count * columns));
  int64_t begin = 0;
  for (const ForeignTensor& part : parts) {
    const std::vector<float> theirs = to_floats(rows_of(part, first, count));
    check_finite(parameter, theirs);
    const int64_t width = part.shape[1];
    for (int64_t row = 0; row < count; ++row)
      std::copy_n(theirs.begin() + row * width, width, values.begin() + row * columns + begin);
    begin += width;
  }
  return values;
}

void write_weights(const ImportedModel& imported, const std::string& path) {
  Device device(kernels_for("baseline"), 1);  // weights are copied, not computed
  const Transformer model(imported.config, device, Buffers::none_yet);
  std::vector<TensorStream> tensors;
  for (const Parameter& parameter : model.parameters.list()) {
    tensors.push_back({parameter.name, Dtype::f32, shape_of(parameter), [&](const auto& take) {
                         const std::vector<ForeignTensor> parts = imported.tensors_of(parameter);
                         const int64_t rows = parameter.value.rows();
                         const int64_t at_once = std::max<int64_t>(1, block_size / parameter.value.columns());
                         for (int64_t row = 0; row < rows; row += at_once) {
                           const std::vector<float> values =
                               values_of(parameter, parts, row, std::min(at_once, rows - row));
                           take(std::as_bytes(std::span(values)));
                         }
                       }});
  }
  stream_safetensors(path, {{"format", "dragoman 1"}}, tensors);
}

// The scale of each column of a weight, or row of a table, whose integers the model has; 0 for the others.
std::vector<float> known_scales(const Parameter& parameter, const std::vector<ForeignTensor>& parts) {
  std::vector<float> scales;
  const size_t dimension = parameter.role == Role::table ? 0 : 1;
  for (const ForeignTensor& part : parts) {
    const auto count = static_cast<size_t>(part.shape[dimension]);
    const bool by_column = part.scales.size() == count && part.scaled_dimension == dimension;
    for (size_t i = 0; i < count; ++i) {
      const bool known = part.type == ElementType::i8 && (by_column || part.scales.size() == 1);
      scales.push_back(known ? 1 / part.scales[by_column ? i : 0] : 0);
    }
    if (dimension == 0) CHECK(parts.size() == 1, "{}: {} parts", parameter.name, parts.size());
  }
  return scales;
}

// Some columns of a weight, each from its first row to its last.
std::vector<float> columns_of(const Parameter& parameter, const std::vector<ForeignTensor>& parts,
                              int64_t first, int64_t count) {
  check_not_stopped();
  std::vector<float> values;
  int64_t begin = 0;
  for (const ForeignTensor& part : parts) {
    const int64_t end = begin + part.shape[1], from = std::max(first, begin),
                  to = std::min(first + count, end);
    if (from < to) {
      const std::vector<float> theirs = to_floats(rows_of(transposed(part), from - begin, to - from));
      check_finite(parameter, theirs);
      values.insert(values.end(), theirs.begin(), theirs.end());
    }
    begin = end;
  }
  CHECK(std::ssize(values) == count * parameter.value.rows(), "{}: {} values", parameter.name, values.size());
  return values;
}

OperandReader operand_reader(const ImportedModel& imported, const Parameter& parameter) {
  const std::vector<ForeignTensor> parts = imported.tensors_of(parameter);
  return [&parameter, parts, scales = known_scales(parameter, parts)](int64_t first, int64_t count) {
    const auto known = scales.begin() + first;
    return OperandColumns{parameter.role == Role::table ? values_of(parameter, parts, first, count)
                                                        : columns_of(parameter, parts, first, count),
                          {known, known + count}};
  };
}

void write_rounded(const ImportedModel& imported, const std::string& path) {
  Device device(kernels_for("baseline"), 1);
  const Transformer model(imported.config, device, Buffers::none_yet);
  stream_low_precision(
      path, model.parameters, imported.precision,
      {.operand = [&](const Parameter& parameter) { return operand_reader(imported, parameter); },
       .values =
           [&](const Parameter& parameter) {
             return values_of(parameter, imported.tensors_of(parameter), 0, parameter.value.rows());
           }});
}

}  // namespace

std::string search_choice(const ImportedModel& model) {
  return fmt::format("beam {}, scores divided by length^{}", model.search["beam"].dump(),
                     model.search["length-penalty"].dump());
}

void write_model_folder(const ImportedModel& imported, const std::string& folder) {
  make_folder(folder);
  write_vocabularies(folder, imported.vocabularies);
  if (imported.shortlist) write_shortlist(folder, *imported.shortlist, imported.vocabularies);
  if (imported.precision == Precision::fp32) {
    write_weights(imported, weights_path(folder));
  } else {
    write_rounded(imported, weights_path(folder));
  }
  const nlohmann::json recipe = {{"data", {{"max_length", imported.max_length}}},
                                 {"vocabulary", {{"source_eos", imported.source_eos}}}};
  const nlohmann::json config = {{"format", 1},
                                 {"model", to_json(imported.config)},
                                 {"search", imported.search},
                                 {"recipe", recipe},
                                 {"vocabulary_checksums", vocabulary_checksums(folder)},
                                 {"made_by", {{"build", build_name()}, {"imported_from", imported.system}}}};
  write_file(folder + "/config.json", {json_text(config, 1)});
}

}  // namespace dragoman::internal
