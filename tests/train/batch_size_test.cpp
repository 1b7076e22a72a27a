#include "train/batch_size.h"

#include <filesystem>

#include "base/files.h"
#include "temporary_folder.h"
#include "train/batches.h"

namespace dragoman::internal {
namespace {

struct MemoryCase {
  const char* name;
  ModelConfig config;
  int64_t tokens;
  int64_t part_tokens = 0;
};
void PrintTo(const MemoryCase& c, std::ostream* out) { *out << c.name; }

// Shapes in which different tensors dominate the memory.
std::vector<MemoryCase> memory_cases() {
  ModelConfig narrow = {.encoder_layers = 3, .decoder_layers = 3, .d_model = 32, .heads = 4, .d_ff = 64};
  narrow.source_vocabulary = narrow.target_vocabulary = 100;
  ModelConfig uneven = narrow;
  uneven.encoder_layers = 5;
  uneven.decoder_layers = 1;
  uneven.norm = NormOrder::post;
  uneven.activation = Activation::gelu;
  uneven.d_ff = 256;
  ModelConfig words = narrow;
  words.encoder_layers = words.decoder_layers = 1;
  words.target_vocabulary = 20000;
  words.tied = Tied::output;
  ModelConfig wide = narrow;
  wide.encoder_layers = wide.decoder_layers = 1;
  wide.d_ff = 1024;
  wide.tied = Tied::all;
  ModelConfig wide_decoder = narrow;
  wide_decoder.decoder_layers = 2;
  wide_decoder.decoder_d_ff = 512;
  wide_decoder.decoder_heads = 16;
  ModelConfig recurrent = narrow;
  recurrent.decoder_layers = 6;
  recurrent.decoder_self_attention = DecoderSelfAttention::ssru;
  ModelConfig gated = wide;
  gated.activation = Activation::swish;
  gated.gated = true;
  gated.norm_kind = NormKind::rms;
  return {{"narrow", narrow, 1024},      {"gated", gated, 512},
          {"uneven", uneven, 512},       {"words", words, 256},
          {"wide", wide, 512},           {"wide_decoder", wide_decoder, 512},
          {"recurrent", recurrent, 512}, {"in_parts", narrow, 1024, 256}};
}

// With this many tokens on both sides, in sentences of 16.
Batch full_batch(int64_t tokens) {
  Batch batch;
  const Sentence sentence(16, 3);
  for (int64_t i = 0; i < tokens / 16; ++i) {
    batch.pairs.push_back(static_cast<uint64_t>(i));
    batch.source.add(sentence.data(), sentence.data() + 16);
    batch.target_input.add(sentence.data(), sentence.data() + 16);
    batch.targets.insert(batch.targets.end(), sentence.begin(), sentence.end());
  }
  return batch;
}

class BatchMemory : public testing::TestWithParam<MemoryCase> {};

TEST_P(BatchMemory, IsAsEstimated) {
  const auto& [name, config, tokens, part_tokens] = GetParam();
  SmallModel small(config, *every_instruction_set().back(), 2, /*gradients=*/true);
  Trainer trainer(small.model, {.part_tokens = part_tokens});
  const std::vector<Batch> batches = {full_batch(tokens)};
  trainer.update(batches, 0.01);
  trainer.update(batches, 0.01);
  const auto peak = static_cast<double>(small.device.pool.peak());
  const auto estimate =
      static_cast<double>(training_bytes(config, {.part_tokens = part_tokens}, small.device.kernels, tokens));
  EXPECT_GT(estimate, 0.95 * peak);
  EXPECT_LT(estimate, 1.05 * peak);
}

INSTANTIATE_TEST_SUITE_P(Of, BatchMemory, testing::ValuesIn(memory_cases()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(BatchTokens, AreAsManyAsFit) {
  const ModelConfig config = memory_cases()[0].config;
  const TrainingConfig whole = {.part_tokens = 0};
  const Kernels& cpu = chosen_kernels();
  const auto bytes = [&](int64_t tokens) { return training_bytes(config, whole, cpu, tokens); };
  const auto fitting = [&](const TrainingConfig& training, int64_t available) {
    return fitting_batch_tokens(config, training, cpu, available);
  };
  EXPECT_EQ(fitting(whole, bytes(5120)), 5120);
  EXPECT_EQ(fitting(whole, bytes(5120) - 1), 4864);
  EXPECT_EQ(fitting(whole, bytes(1 << 20)), 16384);
  EXPECT_EQ(fitting(whole, 0), 256);
  TrainingConfig averaged = whole;
  averaged.ema = 0.9;  // takes room, too
  EXPECT_LT(fitting(averaged, bytes(5120)), 5120);
  const TrainingConfig in_parts = {.part_tokens = 1024};
  EXPECT_EQ(fitting(in_parts, bytes(1024)), 16384);
  EXPECT_EQ(fitting(in_parts, bytes(1024) - 1), 768);  // not even a part
  EXPECT_EQ(training_bytes(config, {}, cpu, 8192), training_bytes(config, {.part_tokens = 2048}, cpu, 8192));
}

TEST(BatchTokens, AreKeptByAResumedRun) {
  const auto folder = std::filesystem::temp_directory_path() / "run";
  std::filesystem::create_directories(folder);
  Recipe recipe = {.training = {.batch_tokens = automatic_batch_tokens}};
  EXPECT_EQ(resolved_batch_tokens(recipe, folder.string()) % 256, 0);
  write_file((folder / "config.json").string(),
             {R"({"format": 1, "recipe": {"training": {"batch_tokens": 777}}})"});
  EXPECT_EQ(resolved_batch_tokens(recipe, folder.string()), 777);
  recipe.training.batch_tokens = 123;  // a number is what it is
  EXPECT_EQ(resolved_batch_tokens(recipe, folder.string()), 123);
  std::filesystem::remove_all(folder);
}

TEST(PartTokens, AreKeptByAResumedRun) {
  const TemporaryFolder folder;
  Recipe recipe = {.training = {.part_tokens = automatic_part_tokens, .device = "cpu"}};
  EXPECT_EQ(resolved_part_tokens(recipe, folder.path("")), 2048);
  folder.write("config.json", R"({"format": 1, "recipe": {"training": {"part_tokens": 0}}})");
  EXPECT_EQ(resolved_part_tokens(recipe, folder.path("")), 0) << "whatever the device is now";
  recipe.training.part_tokens = 77;
  EXPECT_EQ(resolved_part_tokens(recipe, folder.path("")), 77);
}

}  // namespace
}  // namespace dragoman::internal
