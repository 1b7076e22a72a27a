// An exported model that is imported again computes the same. tests/golden/check_exports.py compares with the other
// systems' programs.
#include <filesystem>
#include <functional>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "convert/exporters.h"
#include "convert/fixtures.h"
#include "convert/importers.h"
#include "convert/own_models.h"
#include "convert/systems.h"
#include "model/folder.h"
#include "model/weights.h"
#include "search/saved_model.h"
#include "search/score.h"
#include "search/shortlist.h"
#include "search/translate_lines.h"
#include "testing.h"
#include "text/spm_fields.h"
#include "text/vocabulary.h"
#include "train/recipe.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr ModelConfig small = {.encoder_layers = 2,
                               .decoder_layers = 1,
                               .d_model = 16,
                               .heads = 4,
                               .d_ff = 24,
                               .decoder_heads = 2,
                               .decoder_d_ff = 20,
                               .dropout = 0};

std::vector<std::string> exported_to(const std::string& format, const std::string& model,
                                     const std::string& out) {
  SavedModel saved(model, kernels_for("baseline"), 1);
  return format == "ctranslate2" ? export_ctranslate2(saved, out) : export_huggingface(saved, out);
}

class Export : public testing::Test {
 protected:
  // Through the other system's files and back.
  void expect_same_scores(const std::string& format, const std::string& model, double tolerance) {
    const std::string out = temporary_.path("exported"), back = temporary_.path("back");
    for (const std::string& folder : {out, back}) fs::remove_all(folder);
    exported_to(format, model, out);
    write_model_folder(import_model({out}), back);
    const std::vector<float> ours = scores(model), again = scores(back);
    ASSERT_EQ(ours.size(), again.size());
    for (size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], again[i], tolerance) << i;
  }

  std::string made(const ModelConfig& config, bool shared = false, bool source_eos = true) {
    fs::remove_all(temporary_.path("model"));
    return make_model(config, own_vocabularies(shared), temporary_.path("model"), source_eos);
  }

  const TemporaryFolder temporary_;
};

TEST_F(Export, CTranslate2HasEveryChoice) {
  ModelConfig c = small;
  expect_same_scores("ctranslate2", made(c), 0);
  c.positions = Positions::learned;
  c.max_positions = 40;
  c.norm = NormOrder::post;
  c.activation = Activation::gelu_sigmoid;
  c.tied = Tied::all;
  c.embedding_norm = true;
  expect_same_scores("ctranslate2", made(c, true, false), 0);
  c.positions = Positions::raw_index;
  c.tied = Tied::output;
  c.tied_bias = true;
  c.zero_start = true;
  c.embedding_scale = 2.5;
  expect_same_scores("ctranslate2", made(c), 0);
  c.positions = Positions::tensor2tensor;
  c.position_offset = 1;
  c.activation = Activation::gelu_tanh;
  c.embedding_scale = 1;
  expect_same_scores("ctranslate2", made(c), 0);
  c.gated = true;
  expect_same_scores("ctranslate2", made(c), 0);
  c.norm_kind = NormKind::rms;
  expect_same_scores("ctranslate2", made(c), 0);
}

TEST_F(Export, WordsAndTheirTokenizerComeBack) {
  for (const WordTokenizer tokenizer : {WordTokenizer::none, WordTokenizer::simple}) {
    const VocabularyConfig config = {.kind = PieceKind::words, .tokenizer = tokenizer, .size = 0};
    const Vocabularies words = {learned({"station", "where", "is", "the", "train", ","}, config),
                                learned({"gare", "la", "est", "train", "!"}, config)};
    fs::remove_all(temporary_.path("words"));
    expect_same_scores("ctranslate2", make_model(small, words, temporary_.path("words")), 0);
    const Vocabularies back = read_vocabularies(temporary_.path("back"));
    for (const char* line : {"where, is the ☃ ☃ station!", "la gare, est ☃☃ x y"}) {
      EXPECT_EQ(back.target->encode(line), words.target->encode(line)) << line;
      EXPECT_EQ(back.target->decode(back.target->encode(line)),
                words.target->decode(words.target->encode(line)))
          << line;
    }
  }
}

TEST_F(Export, TokensThatAreForcedOrNeverOutputAreNoted) {
  const auto source = own_vocabularies(true).source;
  const SpecialTokens& special = source->special();
  TokenTable table = {.tokens = {},
                      .unknown = special.unknown,
                      .start = special.start,
                      .end = special.end,
                      .suppressed = {7},
                      .forced_prefix = {9}};
  for (int32_t id = 0; id < source->size(); ++id) table.tokens.push_back(source->piece(id));
  const auto target =
      std::make_shared<const Vocabulary>(with_token_table(source->model(), table), "the target");
  const std::string model = make_model(small, {source, target}, temporary_.path("model")),
                    notes = fmt::format(
                        "{}", fmt::join(exported_to("ctranslate2", model, temporary_.path("out")), "\n"));
  EXPECT_NE(notes.find("target_prefix, " + source->piece(9) + ","), std::string::npos) << notes;
  EXPECT_NE(notes.find("suppress_sequences: " + source->piece(7)), std::string::npos) << notes;
}

TEST_F(Export, ATokenizerThatOthersLackIsNoted) {
  ModelConfig c = small;
  c.norm = NormOrder::post;
  c.norm_eps = 1e-5;
  for (const WordTokenizer tokenizer : {WordTokenizer::none, WordTokenizer::simple}) {
    const auto words =
        learned({"station", "where", ","}, {.kind = PieceKind::words, .tokenizer = tokenizer, .size = 0});
    fs::remove_all(temporary_.path("model"));
    const std::string model = make_model(c, {words, words}, temporary_.path("model"));
    for (const char* system : {"ctranslate2", "huggingface"}) {
      const std::string notes =
          fmt::format("{}", fmt::join(exported_to(system, model, temporary_.path(system)), "\n"));
      EXPECT_EQ(notes.find("vocabulary.tokenizer") != notes.npos, tokenizer == WordTokenizer::simple)
          << notes;
    }
  }
}

TEST_F(Export, CTranslate2KeepsIntegers) {
  const fs::path source = golden / "ctranslate2/trained/int8";
  const std::string first = temporary_.path("first"), second = temporary_.path("second"),
                    out = temporary_.path("out");
  write_model_folder(import_model({source.string()}), first);
  exported_to("ctranslate2", first, out);
  write_model_folder(import_model({out}), second);
  EXPECT_EQ(read_file(weights_path(first)), read_file(weights_path(second)));
}

TEST_F(Export, CTranslate2HasTheShortlist) {
  const std::string model = made(small), out = temporary_.path("out"), back = temporary_.path("back");
  const Vocabularies words = read_vocabularies(model);
  Lexicon lexicon = {.frequent = {5, 9}, .translations = {}};
  for (int32_t id = 0; id < words.source->size(); ++id)
    lexicon.translations.push_back({id % 30, 30 - id % 7, 5});
  write_shortlist(model, lexicon, words);
  exported_to("ctranslate2", model, out);
  write_model_folder(import_model({out}), back);
  const Shortlist before = Shortlist::read(model, words),
                  after = Shortlist::read(back, read_vocabularies(back));
  for (int32_t id = 0; id < words.source->size(); ++id) {
    const std::vector<int32_t> source = {id, 7}, marks = {0, 1};  // which CTranslate2 always allows
    EXPECT_EQ(before.words_for(source, marks), after.words_for(source, {})) << id;
  }
}

TEST_F(Export, CTranslate2HasAttentionThatKnowsDistances) {
  ModelConfig c = small;
  c.positions = Positions::t5;
  c.position_buckets = 8;
  c.max_distance = 11;
  c.encoder_layers = c.decoder_layers = 2;
  c.head_width = 7;
  c.tied = Tied::inputs;
  c.embedding_scale = 1;
  expect_same_scores("ctranslate2", made(c, true), 1e-5);
  c = small;
  c.positions = Positions::none;
  c.relative_distance = 3;
  expect_same_scores("ctranslate2", made(c), 1e-5);
}

TEST_F(Export, WhatOtherSystemsLackIsRefused) {
  const auto refused = [&](const char* format, const std::function<void(ModelConfig&)>& set) {
    ModelConfig c = small;
    c.norm_eps = 1e-5;
    set(c);
    const std::string model = made(c), out = temporary_.path("refused");
    const std::string said = error_of([&] { exported_to(format, model, out); });
    EXPECT_FALSE(fs::exists(out)) << said;
    return said;
  };
  for (const Positions kind : {Positions::rotary, Positions::alibi, Positions::none})
    EXPECT_NE(refused("ctranslate2", [&](ModelConfig& c) { c.positions = kind; }).find("model.positions"),
              std::string::npos);
  EXPECT_NE(refused("ctranslate2", [](ModelConfig& c) { c.relative_distance = 2; }).find("relative_distance"),
            std::string::npos);
  for (const char* system : {"ctranslate2", "huggingface"})
    EXPECT_NE(refused(system, [](ModelConfig& c) { c.query_key_norm = true; }).find("query_key_norm"),
              std::string::npos);
  EXPECT_NE(
      refused("huggingface", [](ModelConfig& c) { c.positions = Positions::t5; }).find("model.positions"),
      std::string::npos);
  EXPECT_NE(refused("huggingface", [](ModelConfig& c) { c.relative_distance = 2; }).find("relative_distance"),
            std::string::npos);
  EXPECT_NE(refused("huggingface", [](ModelConfig& c) { c.head_width = 5; }).find("head_width"),
            std::string::npos);
}

TEST_F(Export, HuggingFaceHasPostNormAndThePapersPositions) {
  ModelConfig c = small;
  c.norm = NormOrder::post;
  c.norm_eps = 1e-5;
  c.positions = Positions::halves;
  expect_same_scores("huggingface", made(c), 1e-5);
  c.tied = Tied::all;
  c.tied_bias = true;
  c.activation = Activation::swish;
  expect_same_scores("huggingface", made(c, true), 1e-5);
  c.positions = Positions::sinusoidal;
  c.tied = Tied::output;
  c.embedding_scale = 1;
  c.activation = Activation::gelu_sigmoid;
  expect_same_scores("huggingface", made(c), 1e-5);
  c.zero_start = true;
  expect_same_scores("huggingface", made(c), 1e-5);
}

TEST_F(Export, HuggingFaceHasPreNormWithOneEmbedding) {
  ModelConfig c = small;
  c.norm_eps = 1e-5;
  c.tied = Tied::all;
  for (const bool zero_start : {false, true}) {
    for (const Positions positions : {Positions::halves, Positions::sinusoidal}) {
      c.positions = positions;
      c.zero_start = zero_start;
      expect_same_scores("huggingface", made(c, true), 1e-5);
    }
  }
}

TEST_F(Export, HuggingFacesFilesComeBackBitForBit) {
  for (const NormOrder norm : {NormOrder::pre, NormOrder::post}) {
    ModelConfig c = small;
    c.norm = norm;
    c.norm_eps = 1e-5;
    c.positions = Positions::halves;
    c.tied = Tied::all;
    const std::string first = temporary_.path("first"), back = temporary_.path("back"),
                      second = temporary_.path("second");
    for (const std::string& folder : {first, back, second}) fs::remove_all(folder);
    exported_to("huggingface", made(c, true), first);
    write_model_folder(import_model({first}), back);
    exported_to("huggingface", back, second);
    for (const char* file : {"/model.safetensors", "/config.json", "/vocab.json"})
      EXPECT_EQ(read_file(first + file), read_file(second + file)) << file;
  }
}

// What --for huggingface checks before the training of recipes/huggingface-en-fr.toml.
TEST_F(Export, TheRecipeForHuggingFaceMeetsItsNeeds) {
  Recipe recipe;
  Options options;
  declare(options, recipe);
  options.read_recipe_file(DRAGOMAN_SOURCE_DIR "/recipes/huggingface-en-fr.toml");
  options.check([&] { validate(recipe); });
  EXPECT_EQ(unmet_by_huggingface(recipe.model, recipe.vocabulary.source_eos), std::vector<std::string>{});
}

TEST_F(Export, ImportedModelsGoBack) {
  for (const char* name : {"joint", "separate"}) {
    const std::string first = temporary_.path(name);
    write_model_folder(import_model({(golden / "huggingface" / name).string()}), first);
    if (std::string(name) == "joint") expect_same_scores("huggingface", first, 0);
    expect_same_scores("ctranslate2", first, 1e-6);
  }
}

// CTranslate2 leaves the tokens of languages to the caller; they are found again among its tokens.
TEST_F(Export, ModelsOfManyLanguagesGoBack) {
  const std::string first = temporary_.path("nllb"), second = temporary_.path("again");
  write_model_folder(import_model({(golden / "m2m/nllb").string()}), first);
  SavedModel model(first, kernels_for("baseline"), 1);
  export_ctranslate2(model, temporary_.path("ct2"));
  write_model_folder(import_model({temporary_.path("ct2")}), second);
  SavedModel again(second, kernels_for("baseline"), 1);
  EXPECT_EQ(again.vocabularies.target->languages().names(), model.vocabularies.target->languages().names());
  for (const json& line : json::parse(read_file((golden / "m2m/nllb/reference.json").string()))) {
    SearchOptions options = {.from = line["from"], .to = line["to"], .beam = 1, .max_length = 40};
    const std::string source = line["source"];
    EXPECT_EQ(again.encode_source(source, options), model.encode_source(source, options));
    EXPECT_EQ(translate_lines(again, {source}, options)[0].translations[0].text,
              translate_lines(model, {source}, options)[0].translations[0].text);
  }
}

TEST_F(Export, WhatHuggingFaceCannotExpressIsNamed) {
  ModelConfig fits = small;
  fits.norm = NormOrder::post;
  fits.norm_eps = 1e-5;
  const auto error = [&](const auto& change, bool source_eos = true) {
    ModelConfig c = fits;
    change(c);
    const std::string model = made(c, false, source_eos);
    return error_of([&] { exported_to("huggingface", model, temporary_.path("out")); });
  };
  EXPECT_EQ(error([](ModelConfig&) {}), "");
  EXPECT_NE(error([](ModelConfig& c) { c.norm = NormOrder::pre; }).find("model.tied = \"all\""),
            std::string::npos);
  EXPECT_EQ(error([](ModelConfig& c) { c.norm_eps = 1e-6, c.positions = Positions::learned; }, false),
            "export --format huggingface needs model.norm_eps = 1e-5, model.positions = \"sinusoidal\" or "
            "\"halves\", vocabulary.source_eos = true; --format ctranslate2 can express this model");
  EXPECT_NE(error([](ModelConfig& c) { c.norm_kind = NormKind::rms; }).find("norm_kind"), std::string::npos);
  EXPECT_NE(error([](ModelConfig& c) { c.gated = true; }).find("gated"), std::string::npos);
  EXPECT_NE(error([](ModelConfig& c) { c.norm_eps = 1e-6; }).find("norm_eps"), std::string::npos);
  EXPECT_NE(error([](ModelConfig& c) { c.positions = Positions::learned; }).find("positions"),
            std::string::npos);
  EXPECT_NE(error([](ModelConfig& c) { c.position_offset = 2; }).find("position_offset"), std::string::npos);
  EXPECT_NE(error([](ModelConfig& c) { c.embedding_scale = 2; }).find("embedding_scale"), std::string::npos);
  EXPECT_NE(error([](ModelConfig& c) { c.embedding_norm = true; }).find("embedding_norm"), std::string::npos);
  EXPECT_NE(error([](ModelConfig&) {}, false).find("source_eos"), std::string::npos);
}

TEST_F(Export, CTranslate2HasNoRecurrentDecoder) {
  ModelConfig config = small;
  config.decoder_self_attention = DecoderSelfAttention::ssru;
  SavedModel model(make_model(config, own_vocabularies(true), temporary_.path("ssru")),
                   kernels_for("baseline"), 1);
  EXPECT_NE(error_of([&] { export_ctranslate2(model, temporary_.path("out")); }).find("SSRU"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(temporary_.path("out")));
}

}  // namespace
}  // namespace dragoman::internal
