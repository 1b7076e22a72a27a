#include "convert/imported_model.h"

#include <algorithm>
#include <cmath>

#include "base/build.h"
#include "base/error.h"
#include "base/files.h"
#include "model/folder.h"
#include "model/transformer.h"
#include "model/weights.h"
#include "search/shortlist.h"
#include "text/vocabulary_checksums.h"

namespace dragoman::internal {
namespace {

constexpr int64_t block_size = 1 << 20;  // values that are converted at once

// Some rows of a parameter.
std::vector<float> values_of(const Parameter& parameter, const std::vector<ForeignTensor>& parts,
                             int64_t first, int64_t count) {
  const int64_t columns = parameter.value.columns();
  std::vector<float> values(static_cast<size_t>(count * columns));
  int64_t begin = 0;
  for (const ForeignTensor& part : parts) {
    const std::vector<float> theirs = to_floats(rows_of(part, first, count));
    if (!std::ranges::all_of(theirs, [](float value) { return std::isfinite(value); }))
      throw Error("the model has values in {} that are not finite: it is damaged, or its training diverged",
                  parameter.name);
    const int64_t width = part.shape[1];
    for (int64_t row = 0; row < count; ++row)
      std::copy_n(theirs.begin() + row * width, width, values.begin() + row * columns + begin);
    begin += width;
  }
  CHECK(begin == columns && parts[0].shape[0] == parameter.value.rows(), "{}: {} columns of {}",
        parameter.name, begin, describe(parts[0]));
  return values;
}

void write_weights(const ImportedModel& imported, const std::string& path) {
  Device device(kernels_for("baseline"), 1);  // weights are copied, not computed
  const Transformer model(imported.config, device, Buffers::none_yet);
  std::vector<TensorStream> tensors;
  for (const Parameter& parameter : model.parameters.list()) {
    tensors.push_back({parameter.name, Dtype::f32, shape_of(parameter), [&](const auto& take) {
                         const std::vector<ForeignTensor> parts = imported.parts(parameter);
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

}  // namespace

void write_model_folder(const ImportedModel& imported, const std::string& folder) {
  make_folder(folder);
  write_vocabularies(folder, imported.vocabularies);
  if (imported.shortlist) write_shortlist(folder, *imported.shortlist, imported.vocabularies);
  write_weights(imported, weights_path(folder));
  const nlohmann::json recipe = {{"data", {{"max_length", imported.max_length}}},
                                 {"vocabulary", {{"source_eos", imported.source_eos}}}};
  const nlohmann::json config = {{"format", 1},
                                 {"model", to_json(imported.config)},
                                 {"search", imported.search},
                                 {"recipe", recipe},
                                 {"vocabulary_checksums", vocabulary_checksums(folder)},
                                 {"made_by", {{"build", build_name()}, {"imported_from", imported.system}}}};
  write_file(folder + "/config.json", {config.dump(1)});
}

}  // namespace dragoman::internal
