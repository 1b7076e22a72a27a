// Marian's models that are damaged, incomplete, or of a kind that cannot be imported: one sentence each.
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "convert/files/packed.h"
#include "convert/fixtures.h"
#include "convert/importers.h"
#include "convert/marian/file.h"
#include "convert/marian_binary.h"
#include "convert/systems.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

const fs::path complete_models = golden / "marian_models";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return text.replace(at, what.size(), with);
}

// A copy of a fixture with a rewritten model.
class MarianRefusals : public testing::Test {
 protected:
  explicit MarianRefusals(const char* name = "tied")
      : fixture_(complete_models / name), model_(open_marian((fixture_ / "model.npz").string())) {
    folder_.write("vocab.spm", read_file((fixture_ / "vocab.spm").string()));
    folder_.write("model.bin.decoder.yml", read_file((fixture_ / "model.npz.decoder.yml").string()));
    write(model_.configuration, model_.tensors);
  }

  void write(const std::string& configuration, const ForeignTensors& tensors) const {
    std::vector<BinaryTensor> all = {
        {"special:model.yml", 0x101, {static_cast<int32_t>(configuration.size())}, configuration}};
    for (const auto& [name, tensor] : tensors)
      all.push_back({name, 0x404, {tensor.shape.begin(), tensor.shape.end()}, data_of(to_floats(tensor))});
    folder_.write("model.bin", binary_of(all));
  }

  std::string error(const ImportRequest& request) const {
    return error_of([&] { write_model_folder(import_marian(request), folder_.path("out")); });
  }
  std::string error() const { return error({folder_.path("")}); }
  std::string error_with(const std::string& line, const std::string& other) const {
    write(replaced(model_.configuration, line + "\n", other + "\n"), model_.tensors);
    return error();
  }
  void expect_error(const std::string& message, const std::string& what) const {
    EXPECT_NE(message.find(what), std::string::npos) << message << "\n should name " << what;
    EXPECT_TRUE(message.starts_with(fs::path(folder_.path("x")).parent_path().string())) << message;
  }

  const fs::path fixture_;
  const MarianFile model_;
  const TemporaryFolder folder_;
};

TEST_F(MarianRefusals, WhatIsNotSupportedIsNamed) {
  EXPECT_EQ(error(), "");
  for (const auto& [line, other] : std::vector<std::pair<std::string, std::string>>{
           {"type: transformer", "type: s2s"},
           {"type: transformer", "type: amun"},
           {"transformer-decoder-autoreg: self-attention", "transformer-decoder-autoreg: average-attention"},
           {"transformer-ffn-depth: 2", "transformer-ffn-depth: 3"},
           {"transformer-decoder-ffn-depth: 0", "transformer-decoder-ffn-depth: 1"},
           {"transformer-postprocess: dan", "transformer-postprocess: dar"},
           {"transformer-postprocess: dan", "transformer-postprocess: dhn"},
           {"transformer-preprocess: \"\"", "transformer-preprocess: n"},
           {"transformer-postprocess-top: \"\"", "transformer-postprocess-top: n"},
           {"transformer-postprocess-emb: d", "transformer-postprocess-emb: r"},
           {"transformer-tied-layers:\n  []", "transformer-tied-layers: [1, 1]"},
           {"transformer-attention-mask: default", "transformer-attention-mask: alibi"},
           {"transformer-disable-position-embeddings: false",
            "transformer-disable-position-embeddings: true"},
           {"transformer-no-projection: false", "transformer-no-projection: true"},
           {"transformer-no-bias: false", "transformer-no-bias: true"},
           {"transformer-ffn-activation: swish", "transformer-ffn-activation: tanh"},
           {"lemma-dim-emb: 0", "lemma-dim-emb: 8"},
           {"factors-dim-emb: 0", "factors-dim-emb: 8"},
           {"right-left: false", "right-left: true"},
           {"dim-vocabs:\n  - 48", "dim-vocabs:\n  - 0"},
           {"dim-vocabs:\n  - 48", "dim-vocabs:\n  - many"},
           {"dim-emb: 16", "dim-emb: [16]"},
           {"enc-depth: 2", "enc-depth: -2"},
           {"tied-embeddings-all: true", "tied-embeddings-all: 1"}}) {
    const std::string key = other.substr(0, other.find(':'));
    expect_error(error_with(line, other), key);
  }
}

class SsruRefusals : public MarianRefusals {
 protected:
  SsruRefusals() : MarianRefusals("ssru") {}
};

TEST_F(SsruRefusals, WhatIsNotSupportedIsNamed) {
  EXPECT_EQ(error(), "");
  expect_error(error_with("dec-cell: ssru", "dec-cell: gru"), "dec-cell");
  for (const std::string key : {"transformer-rnn-projection", "layer-normalization"})
    expect_error(error_with(key + ": false", key + ": true"), key);
}

// Nor is gelu a reason to reject an old version, in which it was another function.
TEST_F(MarianRefusals, OldVersionsHaveTheirGelu) {
  const std::string gelu =
      replaced(model_.configuration, "transformer-ffn-activation: swish", "transformer-ffn-activation: gelu");
  const auto activation = [&](const std::string& configuration) {
    write(configuration, model_.tensors);
    return import_marian({folder_.path("")}).config.activation;
  };
  EXPECT_EQ(activation(gelu), Activation::gelu);
  EXPECT_EQ(activation(replaced(gelu, "version: v1.12.42", "version: v1.9.56")), Activation::gelu_sigmoid);
}

TEST_F(MarianRefusals, TensorsMustFit) {
  expect_error(error_with("enc-depth: 2", "enc-depth: 3"), "encoder_l3_self_Wo_ln_scale");
  expect_error(error_with("enc-depth: 2", "enc-depth: 1"), "encoder_l2_");
  expect_error(error_with("transformer-dim-ffn: 32", "transformer-dim-ffn: 33"), "encoder_l1_ffn_W1");
  expect_error(error_with("tied-embeddings-all: true", "tied-embeddings-all: false"), "encoder_Wemb");
  expect_error(error_with("dim-emb: 16", "dim-emb: 1000000"), "Wemb");
  expect_error(error_with("transformer-heads: 4", "transformer-heads: 5"), "heads");
  expect_error(error_with("enc-depth: 2", "enc-depth: 2000000000"), "encoder_layers");
  ForeignTensors tensors = model_.tensors;
  tensors.erase("decoder_ff_logit_out_b");
  write(model_.configuration, tensors);
  expect_error(error(), "decoder_ff_logit_out_b");
  tensors = model_.tensors;
  tensors.emplace("decoder_l1_rnn_Wo", tensors.at("Wemb"));
  write(model_.configuration, tensors);
  expect_error(error(), "decoder_l1_rnn_Wo");
  tensors = model_.tensors;
  tensors.at("Wemb") = from_floats(std::vector<float>(48 * 16, NAN), {48, 16});
  write(model_.configuration, tensors);
  EXPECT_NE(error().find("not finite"), std::string::npos) << error();
}

TEST_F(MarianRefusals, ConfigurationsAreDataFromAnywhere) {
  write("", model_.tensors);
  expect_error(error(), "special:model.yml");
  write("a: &a [x, x]\nb: [*a, *a]\n", model_.tensors);
  expect_error(error(), "aliases");
  write(std::string(100'000, '['), model_.tensors);
  expect_error(error(), "special:model.yml");
  write("- 1\n", model_.tensors);
  expect_error(error(), "model.bin");
  write(model_.configuration, model_.tensors);
  folder_.write("model.bin.decoder.yml", "beam-size: wide\n");
  expect_error(error(), "beam-size");
  folder_.write("model.bin.decoder.yml", "vocabs: [gone.spm, gone.spm]\n");
  expect_error(error(), "gone.spm");
  folder_.write("model.bin.decoder.yml", "vocabs: vocab.spm\n");
  expect_error(error(), "vocabs");
  folder_.write("model.bin.decoder.yml", std::string((1 << 20) + 1, ' '));
  expect_error(error(), "model.bin.decoder.yml");
}

TEST_F(MarianRefusals, FilesThatAreMissingOrSeveralAreNamed) {
  const std::string model = read_file(folder_.path("model.bin"));
  folder_.write("other.bin", model);
  expect_error(error(), "model.bin, other.bin");
  EXPECT_EQ(error({folder_.path("model.bin")}), "");
  fs::remove(folder_.path("other.bin"));
  fs::remove(folder_.path("model.bin.decoder.yml"));
  EXPECT_EQ(error(), "");
  folder_.write("vocab.other.spm", "x");
  expect_error(error(), "vocab.other.spm");
  fs::remove(folder_.path("vocab.other.spm"));
  fs::rename(folder_.path("vocab.spm"), folder_.path("words"));
  expect_error(error(), "--vocab");
  fs::rename(folder_.path("words"), folder_.path("elsewhere.spm"));
  EXPECT_EQ(error({folder_.path(""), {folder_.path("elsewhere.spm")}}), "");
  folder_.write("vocab.yml", "\"</s>\": 0\n\"<unk>\": 1\n");
  expect_error(error(), "source.spm");
  fs::remove(folder_.path("model.bin"));
  expect_error(error(), "neither .npz nor .bin");
  EXPECT_FALSE(is_marian(folder_.path("")));
}

// A text shortlist is not read; a binary one is.
TEST_F(MarianRefusals, TextShortlistsMayBeMissingOrSeveral) {
  const auto note = [this] { return import_marian({folder_.path("")}).choices.back(); };
  const std::string decoding = read_file(folder_.path("model.bin.decoder.yml"));
  for (const char* name : {"lex.s2t.gz", "lex.t2s.gz"}) folder_.write(name, "x");
  EXPECT_NE(note().find("lex.s2t.gz: only binary shortlists"), std::string::npos) << note();
  folder_.write("model.bin.decoder.yml", decoding + "\nshortlist: [gone.s2t.gz, 50, 50]\n");
  EXPECT_NE(note().find("gone.s2t.gz: only binary shortlists"), std::string::npos) << note();
  folder_.write("model.bin.decoder.yml", decoding + "\nshortlist: [gone.bin]\n");
  expect_error(error(), "gone.bin");
  folder_.write("model.bin.decoder.yml", decoding);
  for (const char* name : {"lex.s2t.bin", "lex.t2s.bin"}) folder_.write(name, "x");
  expect_error(error(), "lex.s2t.bin, lex.t2s.bin");
}

TEST_F(MarianRefusals, TruncatedModelsAreRefused) {
  const std::string whole = read_file(folder_.path("model.bin"));
  for (const size_t size : {size_t{0}, size_t{7}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    folder_.write("model.bin", whole.substr(0, size));
    EXPECT_NE(error({folder_.path("model.bin")}), "") << size;
  }
}

TEST(MarianFiles, AreRecognised) {
  for (const char* name : {"tied", "opus", "bergamot"})
    EXPECT_TRUE(is_marian((complete_models / name).string())) << name;
  EXPECT_TRUE(is_marian((complete_models / "tied/model.npz").string()));
  EXPECT_FALSE(is_marian((complete_models / "tied/vocab.spm").string()));
  EXPECT_FALSE(is_marian((complete_models / "bergamot/lex.50.50.enfr.s2t.bin.gz").string()));
  EXPECT_FALSE(is_marian((golden / "huggingface/joint").string()));
  for (const char* name : {"ctranslate2/int8.bin", "torch/state_dict.pt"})
    EXPECT_FALSE(is_marian((golden / name).string())) << name;
}

// Kilobytes that would become gigabytes.
TEST(PackedFile, IsLimited) {
  const fs::path packed = complete_models / "bergamot/vocab.enfr.spm.gz";
  EXPECT_EQ(read_packed(packed.string(), 1 << 20), read_file((complete_models / "ssru/vocab.spm").string()));
  EXPECT_NE(error_of([&] { read_packed(packed.string(), 100); }).find("more than 100 bytes"),
            std::string::npos);
  const std::string whole = contents(packed);
  const TemporaryFolder folder;
  for (const size_t size : {size_t{3}, size_t{50}, whole.size() - 1}) {
    const std::string path = folder.write("cut.spm.gz", whole.substr(0, size));
    EXPECT_TRUE(error_of([&] { read_packed(path, 1 << 20); }).starts_with(path)) << size;
  }
}

}  // namespace
}  // namespace dragoman::internal
