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

// Whatever the processor: weights are copied, not computed.
Device host() { return Device(kernels_for("baseline"), 1); }

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
  CHECK(begin == columns, "{}: {} columns", parameter.name, begin);
  return values;
}

std::vector<float> all_values(const ImportedModel& imported, const Transformer& model) {
  std::vector<float> weights(model.parameters.weights().size());
  for (const Parameter& parameter : model.parameters.list())
    std::ranges::copy(values_of(parameter, imported.parts(parameter), 0, parameter.value.rows()),
                      weights.begin() + parameter.offset);
  return weights;
}

}  // namespace

void write_model_folder(const ImportedModel& imported, const std::string& folder) {
  Device device = host();
  const Transformer model(imported.config, device, Buffers::weights);
  make_folder(folder);
  write_vocabularies(folder, imported.vocabularies);
  if (imported.shortlist) write_shortlist(folder, *imported.shortlist, imported.vocabularies);
  write_weights(weights_path(folder), model.parameters, all_values(imported, model));
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
