#include "fuzz/import_target.h"

#include <algorithm>
#include <charconv>

#include "convert/importers.h"
#include "fuzz/reading.h"
#include "model/transformer.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

const fs::path fixtures = source_folder / "tests/golden/fixtures";

// A folder's files as one text: "NAME SIZE\n" and the contents, for each.
std::string packed(const fs::path& folder) {
  std::string all;
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (!file.is_regular_file() || name == "reference.json") continue;
    const std::string bytes = contents(file.path());
    all += name + " " + std::to_string(bytes.size()) + "\n" + bytes;
  }
  return all;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() < 100 && name[0] != '.' && name.find('/') == name.npos &&
         name.find('\0') == name.npos;
}

// Whatever of it can be unpacked.
void unpack(std::string_view all, const TemporaryFolder& folder) {
  while (true) {
    const size_t line = all.find('\n'), space = all.substr(0, line).rfind(' ');
    if (line == all.npos || space == all.npos) return;
    const std::string_view name = all.substr(0, space), number = all.substr(space + 1, line - space - 1);
    size_t size = 0;
    std::from_chars(number.data(), number.data() + number.size(), size);
    if (!is_plain_name(name)) return;
    all.remove_prefix(line + 1);
    size = std::min(size, all.size());
    folder.write(std::string(name), std::string(all.substr(0, size)));
    all.remove_prefix(size);
  }
}

}  // namespace

// As writing a model folder does, but without waiting for the disk.
std::string read_importable(std::string_view bytes) {
  const TemporaryFolder source;
  unpack(bytes, source);
  return refusal([&] {
    const ImportedModel imported = import_model({source.path("")});
    Device device(kernels_for("baseline"), 1);
    const Transformer model(imported.config, device, Buffers::none_yet);
    for (const Parameter& parameter : model.parameters.list())
      for (const ForeignTensor& part : imported.parts(parameter)) to_floats(rows_of(part, 0, 1));
  });
}

std::vector<std::string> importable_seeds() {
  std::vector<std::string> seeds;
  for (const char* folder :
       {"huggingface/joint", "huggingface/separate", "m2m/m2m", "m2m/nllb", "m2m/mbart", "fairseq/post",
        "fairseq/old", "opennmt/v3", "opennmt/v2", "marian_models/opus", "marian_models/bergamot"})
    seeds.push_back(packed(fixtures / folder));
  const std::string pieces = packed(fixtures / "ctranslate2/trained");
  seeds.push_back(packed(fixtures / "ctranslate2/random/rounded") + pieces);
  seeds.push_back(packed(fixtures / "ctranslate2/versions/1") + pieces);
  return seeds;
}

}  // namespace dragoman::internal
