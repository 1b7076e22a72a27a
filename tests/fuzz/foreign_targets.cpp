#include <xxhash.h>

#include "convert/ctranslate2/file.h"
#include "convert/files/packed.h"
#include "convert/files/safetensors.h"
#include "convert/files/yaml.h"
#include "convert/marian/file.h"
#include "convert/marian/shortlist.h"
#include "convert/torch/file.h"
#include "fuzz/memory_file.h"
#include "fuzz/readers.h"
#include "fuzz/reading.h"

namespace dragoman::internal {
namespace {

const std::filesystem::path fixtures = source_folder / "tests/golden/fixtures";

Seeds contents_of(const std::vector<std::string>& names) {
  Seeds seeds;
  for (const std::string& name : names) seeds.push_back(contents(fixtures / name));
  return seeds;
}

// As an import does: touches all that the tensors refer to.
void use(const ForeignTensors& tensors) {
  for (const auto& named : tensors) {
    XXH3_64bits(named.second.data.data(), named.second.data.size());
    refusal([&] { to_floats(named.second); });
  }
}

}  // namespace

std::string read_torch_file(std::string_view bytes) {
  const MemoryFile file(bytes);
  return refusal([&] {
    const TorchFile torch = open_torch(file.path());
    use(torch.tensors);
    for (const PickleValue& value : torch.pickle.values) {
      value.described();
      if (const auto text = value.text()) XXH3_64bits(text->data(), text->size());
      for (const PickleValue* const item : value.items()) item->real();
      for (const auto& [key, entry] : value.entries()) key->text();
    }
    torch.pickle.root->find("vocab");
  });
}

Seeds torch_seeds() {
  return contents_of({"torch/state_dict.pt", "torch/state_dict.old.pt", "torch/state_dict.deflated.pt",
                      "torch/checkpoint.pt", "torch/checkpoint.old.pt", "torch/checkpoint.protocol3.pt",
                      "torch/checkpoint.protocol4.pt", "torch/hostile.pt"});
}

std::string read_safetensors_of_others(std::string_view bytes) {
  const MemoryFile file(bytes);
  return refusal([&] { use(read_foreign_safetensors(file.path())); });
}

Seeds safetensors_of_others() { return contents_of({"torch/state_dict.safetensors"}); }

std::string read_marian(std::string_view bytes) {
  const MemoryFile file(bytes);
  return refusal([&] { use(open_marian(file.path()).tensors); });
}

Seeds marian_seeds() {
  return contents_of({"marian/model.npz", "marian/compressed.npz", "marian/intgemm8.bin"});
}

// The file in the fixtures is of 48 tokens.
std::string read_shortlist_of_marian(std::string_view bytes) {
  const MemoryFile file(bytes);
  return refusal([&] { read_marian_shortlist(file.path(), 48, 48, true); });
}

Seeds shortlists_of_marian() {
  return {read_packed(fixtures / "marian_models/bergamot/lex.50.50.enfr.s2t.bin.gz", 1 << 20)};
}

std::string read_yaml(std::string_view bytes) {
  return refusal([&] { parse_yaml(std::string(bytes), "x.yml"); });
}

Seeds yaml_seeds() {
  return contents_of({"marian_models/opus/opus.vocab.yml", "marian_models/opus/model.npz.decoder.yml"});
}

std::string read_ctranslate2(std::string_view bytes) {
  const MemoryFile file(bytes);
  return refusal([&] { use(open_ctranslate2(file.path()).tensors); });
}

Seeds ctranslate2_seeds() {
  return contents_of({"ctranslate2/int8.bin", "ctranslate2/int16.bin", "ctranslate2/float16.bin"});
}

}  // namespace dragoman::internal
