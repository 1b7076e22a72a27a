#include <algorithm>
#include <charconv>

#include "convert/importers.h"
#include "convert/zip_of.h"
#include "fuzz/memory_file.h"
#include "fuzz/readers.h"
#include "fuzz/reading.h"
#include "model/transformer.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

const fs::path import_fixtures = source_folder / "tests/golden/fixtures";

// A folder's files as one text: "NAME SIZE\n" and the contents, for each.
std::string packed(const fs::path& folder) {
  std::string all;
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (!file.is_regular_file() || name == "reference.json" || name.ends_with("beams.json")) continue;
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
Members members_in(std::string_view all) {
  Members members;
  while (true) {
    const size_t line = all.find('\n'), space = all.substr(0, line).rfind(' ');
    if (line == all.npos || space == all.npos) return members;
    const std::string_view name = all.substr(0, space), number = all.substr(space + 1, line - space - 1);
    size_t size = 0;
    std::from_chars(number.data(), number.data() + number.size(), size);
    all.remove_prefix(line + 1);
    size = std::min(size, all.size());
    members.emplace_back(name, all.substr(0, size));
    all.remove_prefix(size);
  }
}

void unpack(std::string_view all, const TemporaryFolder& folder) {
  for (const auto& [name, content] : members_in(all)) {
    if (!is_plain_name(name)) return;
    folder.write(name, content);
  }
}

// As writing a model folder does, but without waiting for the disk.
void read_all(const ImportedModel& imported) {
  Device device(kernels_for("baseline"), 1);
  const Transformer model(imported.config, device, Buffers::none_yet);
  for (const Parameter& parameter : model.parameters.list())
    for (const ForeignTensor& part : imported.tensors_of(parameter)) to_floats(rows_of(part, 0, 1));
}

}  // namespace

std::string read_importable(std::string_view bytes) {
  const TemporaryFolder source;
  unpack(bytes, source);
  return refusal([&] { read_all(import_model({source.path("")})); });
}

// An archive; or what becomes one, so that damage is not always found by the checksums of its files.
std::string read_argos_package(std::string_view bytes) {
  const std::string archive = bytes.starts_with("PK") ? std::string(bytes) : zip_of(members_in(bytes));
  const MemoryFile file(archive);
  return refusal([&] { read_all(import_model({file.path()}, "argos")); });
}

std::vector<std::string> argos_package_seeds() {
  const fs::path trained = import_fixtures / "ctranslate2/trained";
  const std::string metadata = R"({"from_code": "en", "to_code": "fr", "target_prefix": ">>fra<<"})";
  Members members = {{"en_fr/", ""},
                     {"en_fr/metadata.json", metadata},
                     {"en_fr/sentencepiece.model", contents(trained / "source.spm")}};
  for (const char* name : {"config.json", "model.bin", "shared_vocabulary.json"})
    members.emplace_back(std::string("en_fr/model/") + name, contents(trained / "int8" / name));
  std::string listed;
  for (const auto& [name, content] : members)
    listed += name + " " + std::to_string(content.size()) + "\n" + content;
  return {zip_of(members), listed};
}

std::vector<std::string> importable_seeds() {
  std::vector<std::string> seeds;
  for (const char* folder : {"huggingface/joint", "huggingface/separate", "m2m/m2m", "m2m/nllb", "m2m/mbart",
                             "fairseq/post", "fairseq/old", "opennmt/v3", "opennmt/v2", "opennmt/gated",
                             "marian_models/opus", "marian_models/bergamot"})
    seeds.push_back(packed(import_fixtures / folder));
  const std::string pieces = packed(import_fixtures / "ctranslate2/trained");
  seeds.push_back(packed(import_fixtures / "ctranslate2/random/rounded") + pieces);
  seeds.push_back(packed(import_fixtures / "ctranslate2/versions/1") + pieces);
  return seeds;
}

}  // namespace dragoman::internal
