// Models that go through Marian's and Bergamot's files and back. tests/golden/check_marian_exports.py compares with
// these programs.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "convert/exporters.h"
#include "convert/files/yaml.h"
#include "convert/fixtures.h"
#include "convert/importers.h"
#include "convert/marian/file.h"
#include "convert/own_models.h"
#include "nn/positions.h"
#include "search/shortlist.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

// What both programs have.
constexpr ModelConfig student = {.encoder_layers = 2,
                                 .decoder_layers = 1,
                                 .d_model = 64,
                                 .heads = 4,
                                 .d_ff = 128,
                                 .decoder_self_attention = DecoderSelfAttention::ssru,
                                 .ssru_input_bias = false,
                                 .norm = NormOrder::post,
                                 .positions = Positions::tensor2tensor,
                                 .zero_start = true,
                                 .tied = Tied::all,
                                 .tied_bias = true,
                                 .dropout = 0};

class MarianExport : public testing::Test {
 protected:
  std::string made(const ModelConfig& config, bool shared = true, bool source_eos = true) {
    const std::string folder = temporary_.path("model");
    fs::remove_all(folder);
    make_model(config, own_vocabularies(shared), folder, source_eos);
    clear_input_bias(folder);
    return folder;
  }

  std::string to_marian(const std::string& model, const std::string& name = "marian") {
    fs::remove_all(temporary_.path(name));
    SavedModel saved(model, kernels_for("baseline"), 1);
    export_marian(saved, temporary_.path(name));
    return temporary_.path(name);
  }

  std::string to_bergamot(const std::string& model, const std::string& text = "",
                          const std::string& name = "bergamot") {
    fs::remove_all(temporary_.path(name));
    SavedModel saved(model, kernels_for("baseline"), 1);
    notes_ = export_bergamot(saved, temporary_.path(name), text);
    return temporary_.path(name);
  }

  std::string imported(const std::string& source) {
    fs::remove_all(temporary_.path("back"));
    ImportedModel model = import_model({source});
    model.precision = Precision::fp32;
    write_model_folder(model, temporary_.path("back"));
    return temporary_.path("back");
  }

  const TemporaryFolder temporary_;
  std::vector<std::string> notes_;

 private:
  // As training leaves it.
  static void clear_input_bias(const std::string& folder) {
    Device device(kernels_for("baseline"), 1);
    Transformer model(read_model_config(folder), device, Buffers::weights);
    if (!has_ssru(model.config) || model.config.ssru_input_bias) return;
    read_weights(weights_path(folder), model.parameters);
    for (const DecoderLayer& layer : model.decoder) {
      const HostView<float> bias = layer.ssru.gate_and_input.bias.writable_values();
      for (size_t i = bias.size() / 2; i < bias.size(); ++i) bias[i] = 0;
    }
    const HostView<const float> weights(device.memory, model.parameters.weights());
    write_weights(weights_path(folder), model.parameters, weights.span());
  }
};

void expect_equal(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], b[i]) << i;
}

TEST_F(MarianExport, MarianHasTheSameModelToTheBit) {
  const auto expect_round_trip = [&](const std::function<void(ModelConfig&)>& set, bool shared) {
    ModelConfig c = student;
    set(c);
    const std::string model = made(c, shared);
    expect_equal(scores(imported(to_marian(model))), scores(model));
  };
  expect_round_trip([](ModelConfig&) {}, true);
  expect_round_trip(
      [](ModelConfig& c) { c.norm = NormOrder::pre, c.tied_bias = false, c.activation = Activation::swish; },
      true);
  expect_round_trip(
      [](ModelConfig& c) {
        c.decoder_self_attention = DecoderSelfAttention::attention;
        c.tied = Tied::output;
        c.decoder_d_ff = 36;
        c.embedding_norm = true;
        c.activation = Activation::gelu;
      },
      false);
  expect_round_trip(
      [](ModelConfig& c) { c.norm = NormOrder::pre, c.tied = Tied::none, c.d_model = 20, c.d_ff = 24; },
      false);
  expect_round_trip([](ModelConfig& c) { c.tied = Tied::inputs; }, true);
}

// The original files are those that Marian wrote.
TEST_F(MarianExport, MarianGetsItsOwnTensorsBack) {
  for (const char* name : {"tied", "opus", "separate", "embedding_norm", "ssru", "ssru_pre_norm"}) {
    const std::string original = (golden / "marian_models" / name).string();
    const std::string again = to_marian(imported(original));
    const MarianFile theirs = open_marian(original + "/model.npz"), ours = open_marian(again + "/model.npz");
    EXPECT_EQ(ours.tensors.size(), theirs.tensors.size()) << name;
    for (const auto& [tensor, expected] : theirs.tensors) {
      ASSERT_TRUE(ours.tensors.contains(tensor)) << name << ": " << tensor;
      EXPECT_EQ(ours.tensors.at(tensor).shape, expected.shape) << name << ": " << tensor;
      EXPECT_EQ(to_floats(ours.tensors.at(tensor)), to_floats(expected)) << name << ": " << tensor;
    }
    const nlohmann::json said = parse_yaml(ours.configuration, "ours"),
                         expected = parse_yaml(theirs.configuration, "theirs");
    for (const auto& [key, value] : said.items()) {
      if (!expected.contains(key) || key == "version") continue;
      EXPECT_EQ(value, expected[key]) << name << ": " << key;
    }
  }
}

TEST_F(MarianExport, VocabulariesAreTheOriginals) {
  const fs::path models = golden / "marian_models";
  const std::string ssru = to_marian(imported((models / "ssru").string()));
  EXPECT_EQ(read_file(ssru + "/vocab.spm"), read_file((models / "ssru/vocab.spm").string()));
  const std::string opus = to_marian(imported((models / "opus").string()));
  EXPECT_EQ(parse_yaml(read_file(opus + "/vocab.yml"), "ours"),
            parse_yaml(read_file((models / "opus/opus.vocab.yml").string()), "theirs"));
  for (const char* side : {"source.spm", "target.spm"})
    EXPECT_EQ(read_file(opus + "/" + side), read_file((models / "opus" / side).string()));
}

// Rounded to 8 bits, and the same again when it is exported again.
TEST_F(MarianExport, BergamotHasTheModelInIntegers) {
  for (const bool shared : {true, false}) {
    ModelConfig c = student;
    if (!shared) c.tied = Tied::output, c.norm = NormOrder::pre;
    const std::string model = made(c, shared), first = to_bergamot(model, "", "first");
    const std::string back = imported(first);
    const std::vector<float> before = scores(model), after = scores(back);
    ASSERT_EQ(before.size(), after.size());
    double difference = 0;
    for (size_t i = 0; i < before.size(); ++i) difference += std::abs(before[i] - after[i]);
    EXPECT_GT(difference, 0);
    EXPECT_LT(difference / static_cast<double>(before.size()), 0.5);

    const MarianFile once = open_marian(first + "/model.intgemm8.bin"),
                     twice = open_marian(to_bergamot(back, "", "second") + "/model.intgemm8.bin");
    for (const auto& [name, tensor] : once.tensors) {
      const auto same = to_floats(twice.tensors.at(name)), values = to_floats(tensor);
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], same[i], 1e-6 * std::abs(values[i])) << name;
    }
    EXPECT_EQ(once.tensors.at(shared ? "Wemb" : "decoder_Wemb").type, ElementType::i8);
  }
}

// Bergamot's products need a number of columns that 8 divides.
TEST_F(MarianExport, BergamotsVocabularyIsPadded) {
  const std::string model = made(student);
  const int64_t size = read_model_config(model).target_vocabulary;
  ASSERT_NE(size % 8, 0);
  const ImportedModel back = import_model({to_bergamot(model)});
  EXPECT_EQ(back.config.target_vocabulary, (size + 7) / 8 * 8);
  const auto bias = to_floats(
      open_marian(temporary_.path("bergamot/model.intgemm8.bin")).tensors.at("decoder_ff_logit_out_b"));
  for (size_t i = 0; i < bias.size(); ++i) EXPECT_EQ(bias[i] < -1e5, static_cast<int64_t>(i) >= size) << i;
}

TEST_F(MarianExport, TheSameModelGivesTheSameBytes) {
  const std::string model = made(student),
                    text = temporary_.write("text", "where is the train\nthe station\n");
  const std::string a = to_bergamot(model, text, "a"), b = to_bergamot(model, text, "b"),
                    c = to_marian(model, "c"), d = to_marian(model, "d");
  for (const auto& [one, other] : {std::pair(a, b), std::pair(c, d)})
    for (const auto& entry : fs::directory_iterator(one))
      EXPECT_EQ(read_file(entry.path().string()), read_file(other + "/" + entry.path().filename().string()))
          << entry.path();
}

// With one line, 127 / what the first encoder layer reads of it at most: embeddings and positions.
TEST_F(MarianExport, ActivationsHaveTheMultipliersOfTheText) {
  const std::string model = made(student), line = "where is the station";
  const std::string out = to_bergamot(model, temporary_.write("text", line + "\n"));
  EXPECT_TRUE(notes_.size() == 1 && notes_[0].find("no shortlist") != std::string::npos);
  const MarianFile file = open_marian(out + "/model.intgemm.alphas.bin");
  const auto multiplier = [&](const std::string& name) {
    return to_floats(file.tensors.at(name + "_QuantMultA"))[0];
  };

  SavedModel saved(model, kernels_for("baseline"), 1);
  const HostView<const float> table = saved.model.target_embedding.tokens.values();
  const std::vector<int32_t> ids = saved.encode_source(line);
  double largest = 0;
  for (size_t row = 0; row < ids.size(); ++row)
    for (int64_t column = 0; column < 64; ++column)
      largest = std::max(
          largest, std::abs(8.0 * table[static_cast<size_t>(ids[row] * 64 + column)] +
                            position_value(Positions::tensor2tensor, static_cast<int64_t>(row), column, 64)));
  for (const char* name : {"encoder_l1_self_Wq", "encoder_l1_self_Wk", "encoder_l1_self_Wv"})
    EXPECT_NEAR(multiplier(name), 127 / largest, 1e-3);
  for (const auto& [name, tensor] : file.tensors) {
    if (tensor.type != ElementType::i8) continue;
    EXPECT_GT(multiplier(name), 0) << name;
  }
  EXPECT_GT(multiplier("none"), 0);
  EXPECT_NE(read_file(out + "/config.yml").find("int8shiftAlphaAll"), std::string::npos);
}

TEST_F(MarianExport, WithoutTextActivationsAreNotFixed) {
  const std::string out = to_bergamot(made(student));
  for (const auto& [name, tensor] : open_marian(out + "/model.intgemm8.bin").tensors)
    EXPECT_FALSE(name.ends_with("_QuantMultA")) << name;
  EXPECT_NE(read_file(out + "/config.yml").find("gemm-precision: int8shiftAll\n"), std::string::npos);
  const std::string model = made(student), empty = temporary_.write("empty", "\n\n");
  EXPECT_NE(error_of([&] { to_bergamot(model, empty); }).find("no text"), std::string::npos);
}

TEST_F(MarianExport, ShortlistsHaveTheSameWords) {
  const std::string model = made(student);
  const Vocabularies words = read_vocabularies(model);
  const std::vector<int32_t> always = {0, 1, 2, 5, 9};
  Lexicon lexicon = {.frequent = always, .translations = {}};
  for (int32_t id = 0; id < words.source->size(); ++id)
    lexicon.translations.push_back({id % 30, 30 - id % 7, 5, id});
  write_shortlist(model, lexicon, words);
  for (const std::string& out : {to_bergamot(model), to_marian(model)}) {
    const std::string back = imported(out);
    const Shortlist before = Shortlist::read(model, words),
                    after = Shortlist::read(back, read_vocabularies(back));
    for (int32_t id = 0; id < words.source->size(); ++id) {
      const std::vector<int32_t> source = {id, 7, words.source->special().end};
      EXPECT_EQ(before.words_for(source, {}), after.words_for(source, {})) << id;
    }
  }
}

TEST_F(MarianExport, SearchComesBack) {
  const ImportedModel back = import_model({to_bergamot(made(student))});
  EXPECT_EQ(back.search["beam"], 3);
  EXPECT_EQ(back.search["length-penalty"], 0.7);
  EXPECT_EQ(back.search["max-length-ratio"], 3);
}

TEST_F(MarianExport, WhatTheProgramsLackIsNamed) {
  const auto said = [&](bool bergamot, const std::function<void(ModelConfig&)>& set, bool source_eos = true) {
    ModelConfig c = student;
    set(c);
    const std::string model = made(c, c.tied == Tied::all || c.tied == Tied::inputs, source_eos);
    const std::string out = temporary_.path("refused");
    SavedModel saved(model, kernels_for("baseline"), 1);
    const std::string error =
        error_of([&] { bergamot ? export_bergamot(saved, out, "") : export_marian(saved, out); });
    EXPECT_FALSE(fs::exists(out)) << error;
    return error;
  };
  const auto expect_named = [&](const char* option, const std::function<void(ModelConfig&)>& set) {
    for (const bool bergamot : {false, true}) {
      const std::string error = said(bergamot, set);
      EXPECT_NE(error.find(option), std::string::npos) << error;
      EXPECT_TRUE(error.starts_with(bergamot ? "export --format bergamot" : "export --format marian"))
          << error;
    }
  };
  expect_named("model.positions = \"tensor2tensor\"",
               [](ModelConfig& c) { c.positions = Positions::sinusoidal; });
  expect_named("model.zero_start = true", [](ModelConfig& c) { c.zero_start = false; });
  expect_named("model.norm_eps = 1e-6", [](ModelConfig& c) { c.norm_eps = 1e-5; });
  expect_named("model.norm_kind", [](ModelConfig& c) { c.norm_kind = NormKind::rms; });
  expect_named("model.gated", [](ModelConfig& c) { c.gated = true; });
  expect_named("model.position_offset", [](ModelConfig& c) { c.position_offset = 2; });
  expect_named("model.relative_distance", [](ModelConfig& c) { c.relative_distance = 2; });
  expect_named("model.query_key_norm", [](ModelConfig& c) { c.query_key_norm = true; });
  expect_named("model.embedding_scale", [](ModelConfig& c) { c.embedding_scale = 2; });
  expect_named("model.head_width", [](ModelConfig& c) { c.head_width = 5; });
  expect_named("model.decoder_heads", [](ModelConfig& c) { c.decoder_heads = 2; });
  expect_named("model.activation", [](ModelConfig& c) { c.activation = Activation::gelu_tanh; });
  expect_named("model.ssru_input_bias = false", [](ModelConfig& c) { c.ssru_input_bias = true; });
  EXPECT_NE(said(
                false, [](ModelConfig&) {}, false)
                .find("vocabulary.source_eos = true"),
            std::string::npos);
  EXPECT_NE(said(true, [](ModelConfig& c) { c.tied = Tied::none; }).find("model.tied"), std::string::npos);
  EXPECT_NE(said(true, [](ModelConfig& c) { c.decoder_d_ff = 64; }).find("model.decoder_d_ff"),
            std::string::npos);
  EXPECT_NE(said(true, [](ModelConfig& c) { c.d_model = 48; }).find("model.d_model"), std::string::npos);
  EXPECT_NE(said(true, [](ModelConfig& c) { c.d_ff = 100; }).find("model.d_ff"), std::string::npos);
}

// Of a model that learned one before it was exported.
TEST_F(MarianExport, ABiasOfTheInputIsNotLost) {
  ModelConfig c = student;
  const std::string model = temporary_.path("biased");
  make_model(c, own_vocabularies(true), model);
  EXPECT_NE(error_of([&] { to_marian(model); }).find("decoder.layers.0.ssru.gate_and_input.bias"),
            std::string::npos);
}

TEST_F(MarianExport, KeepsTheLayerThatAligns) {
  ModelConfig c = student;
  c.decoder_layers = 2;
  const auto aligns = [this](const std::string& source) {
    return read_model_config(imported(source)).alignment_layer;
  };
  for (const int64_t layer : {0, 1, 2}) {
    c.alignment_layer = layer;
    const std::string model = made(c);
    EXPECT_EQ(aligns(to_marian(model)), layer);
    EXPECT_EQ(aligns(to_bergamot(model)), layer);
  }
}

// As Marian's own training leaves it, which names the last layer or a number.
TEST_F(MarianExport, ReadsWhetherMarianTrainedAlignment) {
  ModelConfig c = student;
  c.decoder_layers = 2;
  const auto aligns_if = [&](int64_t layer, const std::string& training) {
    c.alignment_layer = layer;
    const std::string folder = to_marian(made(c));
    write_file(folder + "/model.npz.yml", {training});
    return read_model_config(imported(folder)).alignment_layer;
  };
  EXPECT_EQ(aligns_if(0, "guided-alignment: links.txt\n"), 2);
  EXPECT_EQ(aligns_if(1, "guided-alignment: links.txt\n"), 1);
  EXPECT_EQ(aligns_if(1, "guided-alignment: none\n"), 0);
}

}  // namespace
}  // namespace dragoman::internal
