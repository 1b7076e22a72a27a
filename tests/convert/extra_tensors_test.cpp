// A file with more tensors than its kind of model has is refused, but not for those that real files have besides
// weights. Some of these are in the fixtures themselves.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/files.h"
#include "convert/fixtures.h"
#include "convert/importers.h"
#include "model/safetensors.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

struct Checkpoint {
  const char *folder, *format, *weights;
  const char* module;  // that no supported model has
  Names harmless;
  // In a pickle: a tensor that another name is given to as well, and the one after it.
  const char *copied = nullptr, *next = nullptr;
};

// The files of a model, some of its tensors under more names.
class ExtraTensors : public testing::TestWithParam<Checkpoint> {
 protected:
  ExtraTensors() {
    for (const auto& entry : fs::directory_iterator(golden / GetParam().folder))
      fs::copy(entry, folder_.path(entry.path().filename().string()));
  }

  void add(const Names& names) const {
    const std::string path = folder_.path(GetParam().weights);
    if (GetParam().copied != nullptr) {
      folder_.write(GetParam().weights, with_entries(read_file(path), names));
      return;
    }
    const SafetensorsFile file = SafetensorsFile::open(path);
    std::vector<TensorEntry> entries = file.entries();
    for (const std::string& name : names) {
      entries.push_back(entries[0]);
      entries.back().name = name;
    }
    write_safetensors(path, {}, entries);
  }

  std::string error() const {
    return error_of([&] { import_model({folder_.path("")}, GetParam().format); });
  }

 private:
  static std::string with_entries(std::string file, const Names& names) {
    const std::string key = pickled(GetParam().copied);
    const size_t begin = file.find(key), end = file.find(pickled(GetParam().next));
    EXPECT_TRUE(begin < end && end < file.size());
    const std::string value = file.substr(begin + key.size(), end - begin - key.size());
    for (const std::string& name : names) file.insert(end, pickled(name) + value);
    return file;
  }

  const TemporaryFolder folder_;
};

TEST_P(ExtraTensors, AreNamedAndCounted) {
  const std::string module = GetParam().module;
  add({module + ".weight", module + ".bias"});
  EXPECT_NE(error().find(module + ".bias\" (the first of 2)"), std::string::npos) << error();
}

TEST_P(ExtraTensors, MayBeHarmless) {
  add(GetParam().harmless);
  EXPECT_EQ(error(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Of, ExtraTensors,
    testing::Values(
        Checkpoint{"fairseq/old",
                   "fairseq",
                   "model.pt",
                   "decoder.layers.0.adapter.up",
                   {"encoder.embed_positions.weights", "decoder.embed_positions.weights"},
                   "encoder.version",
                   "decoder.version"},
        Checkpoint{"opennmt/v2",
                   "opennmt-py",
                   "model.pt",
                   "encoder.transformer.0.layer_norm_res",
                   {"decoder.transformer_layers.0.mask"},
                   "encoder.embeddings.make_embedding.pe.pe",
                   "encoder.transformer.0.self_attn.linear_keys.weight"},
        Checkpoint{"eole",
                   "eole",
                   "model.00.safetensors",
                   "encoder.transformer_layers.0.mlp.gate",
                   {"src_emb.pe.pe", "tgt_emb.pe.pe", "generator.weight", "estimator.ff.0.weight"}},
        Checkpoint{"huggingface/joint",
                   "huggingface-marian",
                   "model.safetensors",
                   "model.encoder.layer_norm",
                   {"lm_head.weight", "model.encoder.embed_tokens.weight",
                    "model.decoder.embed_tokens.weight", "model.encoder.version"}},
        Checkpoint{"m2m/nllb",
                   "huggingface-m2m",
                   "model.safetensors",
                   "model.encoder.layers.0.ffn.router",
                   {"lm_head.weight", "model.encoder.embed_tokens.weight",
                    "model.decoder.embed_positions.weights", "v_head.summary.weight"}},
        Checkpoint{"m2m/mbart",
                   "huggingface-m2m",
                   "model.safetensors",
                   "model.decoder.layers.1.adapter",
                   {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.version"}},
        Checkpoint{"t5/t5",
                   "huggingface-t5",
                   "model.safetensors",
                   "encoder.block.0.layer.2.adapter",
                   {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight",
                    "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"}}),
    [](const auto& test) {
      std::string name = test.param.folder;
      std::ranges::replace(name, '/', '_');
      return name;
    });

}  // namespace
}  // namespace dragoman::internal
