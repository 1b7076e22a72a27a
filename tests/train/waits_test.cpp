// An update waits for its device twice in a row, at its end: for the gradient's norm, and for the losses, which are
// there by then. A GPU computes the parts before it one after another, without a gap.
#include "tensor/counting_memory.h"
#include "train/batches.h"

namespace dragoman::internal {
namespace {

const Kernels* counted_kernels = nullptr;
CountingMemory* counted_memory = nullptr;
int downloads_before_norm = 0;

double counting_sum_of_squares(Context& context, int64_t count, const float* values) {
  downloads_before_norm = counted_memory->downloads;
  return counted_kernels->sum_of_squares(context, count, values);
}

class Waits : public testing::TestWithParam<NamedConfig> {};

TEST_P(Waits, AtTheEndOfAnUpdateWhateverItsParts) {
  CountingMemory memory;
  counted_memory = &memory;
  counted_kernels = every_instruction_set().back();
  Kernels table = *counted_kernels;
  table.sum_of_squares = counting_sum_of_squares;
  Device device(table, std::unique_ptr<Context>(table.new_context(2)), memory);
  Transformer model(GetParam().config, device, Buffers::weights_and_gradients);
  model.parameters.initialise(1);
  Trainer trainer(model, {.clip_norm = 1, .part_tokens = 20, .precision = Precision::bf16, .ema = 0.9});
  const std::vector<Batch> batches = {random_batch(GetParam().config, 0, 12),
                                      random_batch(GetParam().config, 20, 9)};
  ASSERT_GE(slice_count(batches[0], 20) + slice_count(batches[1], 20), 4);
  trainer.update(batches, 0.01);  // tables of positions are made

  memory.downloads = 0;
  downloads_before_norm = -1;
  trainer.update(batches, 0.01);
  EXPECT_EQ(downloads_before_norm, 0);
  EXPECT_EQ(memory.downloads, 1);
}

// What is added up at the end is what the parts had, in their order.
TEST_P(Waits, TheLossesAreThoseOfTheParts) {
  SmallModel small(GetParam().config, *every_instruction_set().back(), 2, /*gradients=*/true);
  Trainer trainer(small.model, {.part_tokens = 20});
  const std::vector<Batch> batches = {random_batch(GetParam().config, 0, 12),
                                      random_batch(GetParam().config, 20, 9)};
  LossSums expected;
  for (const Batch& batch : batches) {
    BatchSlice rest = whole(batch);
    for (int64_t slices = slice_count(batch, 20); slices > 0; --slices) {
      const BatchSlice slice = take_slice(rest, slices);
      Batch part;
      part.pairs.assign(slice.pairs.begin(), slice.pairs.end());
      for (const auto& [from, to] :
           {std::pair(slice.source, &part.source), std::pair(slice.target_input, &part.target_input)}) {
        to->ids.assign(from.ids.begin(), from.ids.end());
        to->lengths.assign(from.lengths.begin(), from.lengths.end());
      }
      part.targets.assign(slice.targets.begin(), slice.targets.end());
      expected += trainer.add_gradients(part);
    }
  }
  const LossSums sums = trainer.compute(batches).sums;
  EXPECT_EQ(sums.smoothed, expected.smoothed);
  EXPECT_EQ(sums.unsmoothed, expected.unsmoothed);
  EXPECT_EQ(sums.source_tokens, expected.source_tokens);
  EXPECT_EQ(sums.target_tokens, expected.target_tokens);
}

std::vector<NamedConfig> all_configs() {
  std::vector<NamedConfig> all = small_configs();
  std::ranges::copy(small_language_models(), std::back_inserter(all));
  return all;
}

INSTANTIATE_TEST_SUITE_P(On, Waits, testing::ValuesIn(all_configs()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace dragoman::internal
