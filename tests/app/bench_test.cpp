// dragoman bench: what it prints, not how fast anything is.
#include <nlohmann/json.hpp>

#include "app/decoding_speed.h"
#include "app/translating.h"
#include "app/translating_commands.h"

namespace dragoman::internal {
namespace {

class BenchCommand : public TranslatingCommands {
 protected:
  std::string bench(const std::string& more, int exit_code = 0) {
    return run("bench --rounds 1 --sentences 2 --length 4 --threads 1 " + more, "", exit_code);
  }
  std::string bench_text(const std::string& more, int exit_code = 0) {
    return run("bench --rounds 1 --threads 1 " + more, "", exit_code);
  }
};

TEST_F(BenchCommand, ARowForEachBatchAndBeam) {
  std::vector<std::pair<int64_t, int64_t>> rows;
  const std::string model = "--model " + folder_.path;
  for (const std::string& line : lines_of(bench(model + " --batch 1,2 --beam 1,3 --format json"))) {
    const auto row = nlohmann::json::parse(line);
    rows.emplace_back(row["batch"], row["beam"]);
    for (const char* key : {"tokens_per_second", "share_of_arithmetic", "share_of_bandwidth", "peak_mib",
                            "limit_operations_a_second", "limit_bytes_a_second", "weights_bytes_a_step"})
      EXPECT_GT(row[key], 0) << key;
    EXPECT_EQ(row["weights_bytes_a_step"], bytes_of_step(read_model_config(folder_.path), Precision::fp32));
    EXPECT_LE(row["share_of_arithmetic"], 1);
    EXPECT_LE(row["share_of_bandwidth"], 1);
    EXPECT_EQ(row["threads"], 1);
    EXPECT_EQ(row["precision"], "fp32");
    EXPECT_EQ(row["instruction_set"], kernels_for(std::getenv("DRAGOMAN_ISA")).name);
  }
  EXPECT_EQ(rows, (std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 3}, {2, 1}, {2, 3}}));
  EXPECT_EQ(lines_of(bench(model + " --batch 2 --beam 1 --precision int8 --cache none")).size(), 5U);
}

TEST_F(BenchCommand, ATextIsTranslatedAsTranslateDoes) {
  nlohmann::json config = nlohmann::json::parse(read_file(file("config.json")));
  config["search"] = {{"no-repeat-ngram", 1}};  // an output that loops is translated again by translate alone
  write("config.json", config.dump());
  const std::string text = write("text", "a b c\n\na c\nb\n");
  const auto row = nlohmann::json::parse(
      bench_text("--model " + folder_.path + " --batch 2 --beam 3 --format json --text " + text));
  const auto model = load_model(folder_.path, {.threads = 1});
  DecodingRounds rounds(model->model, {.batch = 2, .beam = 3},
                        work_of_text(*model, text, {.batch = 2, .beam = 3}));
  rounds.seconds();
  const RoundSize size = rounds.size();
  EXPECT_EQ(size.sentences, 3);
  EXPECT_EQ(size.steps, size.outputs + 3);
  EXPECT_NEAR(row["milliseconds_a_sentence"].get<double>() * row["tokens_per_second"].get<double>() / 1000,
              static_cast<double>(size.outputs) / 3, 1e-6);
  const Lines expected =
      lines_of(run("translate --model " + folder_.path + " --beam 3 --pieces", "a b c\na c\nb\n"));
  for (size_t i = 0; i < 3; ++i) {
    std::string pieces;
    for (const int32_t id : rounds.outputs()[i])
      pieces += (pieces.empty() ? "" : " ") + model->vocabularies.target->piece(id);
    EXPECT_EQ(pieces, expected.at(i));
  }
  bench_text("--text " + text, 2);
  EXPECT_NE(errors_.find("--text needs --model"), std::string::npos) << errors_;
  bench_text("--model " + folder_.path + " --text " + write("blank", "\n"), 1);
  EXPECT_NE(errors_.find("has no text to translate"), std::string::npos) << errors_;
  bench("--model " + folder_.path + " --text " + text, 2);
  EXPECT_NE(errors_.find("--length has no effect with --text"), std::string::npos) << errors_;
}

// A step reads the generator and the decoder, except what cross-attention computes once from the source.
TEST(DecodingRoundsTest, AStepReadsTheDecodersWeights) {
  ModelConfig config = {.encoder_layers = 9, .decoder_layers = 2, .d_model = 20, .heads = 2, .d_ff = 37};
  config.target_vocabulary = 50;
  const double weights = 2 * (4 * 400 + 2 * 400 + 2 * 20 * 37) + 20 * 50;
  EXPECT_EQ(bytes_of_step(config, Precision::fp32), 4 * weights);
  EXPECT_EQ(bytes_of_step(config, Precision::int8), weights);
  config.head_width = 15;
  EXPECT_EQ(bytes_of_step(config, Precision::int8), weights + 2 * 6 * 20 * (2 * 15 - 20));
}

// What a step computes does not depend on what is kept of the steps before.
TEST(DecodingRoundsTest, EveryCacheLeadsToTheSameOutputs) {
  for (const Precision precision : {Precision::fp32, Precision::int8}) {
    for (const auto& [name, config] : small_configs()) {
      SmallModel small(config, kernels_for(std::getenv("DRAGOMAN_ISA")), 2);
      if (precision != Precision::fp32)
        quantize_weights(small.model.device, small.model.parameters, precision);
      const auto outputs = [&, &config = config](DecodingCache kept) {
        const DecodingLoad load = {.sentences = 5, .length = 7, .batch = 2, .kept = kept};
        DecodingRounds rounds(small.model, load, random_work(config, load));
        rounds.seconds();
        return rounds.outputs();
      };
      const auto all = outputs(DecodingCache::all);
      EXPECT_EQ(all[4].size(), 7U);
      for (const DecodingCache kept : {DecodingCache::cross, DecodingCache::encoder, DecodingCache::none})
        EXPECT_EQ(outputs(kept), all) << name;
    }
  }
}

TEST_F(BenchCommand, WrongUseIsSaid) {
  bench("--batch 2,x", 2);
  EXPECT_NE(errors_.find("batch is [\"2\", \"x\"], but must be a list of whole numbers, each at least 1"),
            std::string::npos)
      << errors_;
  bench("--cache none --beam 4", 2);
  EXPECT_NE(errors_.find("add --beam 1"), std::string::npos) << errors_;
  bench("--model " + folder_.path + " --model.d_model 64", 2);
  EXPECT_NE(errors_.find("are for random weights"), std::string::npos) << errors_;
}

}  // namespace
}  // namespace dragoman::internal
