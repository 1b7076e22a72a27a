// Once the largest batch has been seen, a step of training asks the system for no memory: neither the allocator
// nor the pool, whatever the shapes of the batches that follow.
#include "train/batches.h"
#include "train/count_allocations.h"

namespace dragoman::internal {
namespace {

TEST(CountAllocations, Counts) {
  const int64_t before = allocations();
  ::operator delete(::operator new(10));  // unlike a vector, which a compiler may do without
  EXPECT_EQ(allocations(), before + 1);
}

// Where a device's memory is not the host's, what the host reads and writes are copies, and the device's libraries ask
// for what they like: nothing is promised.
void expect_none(const Device& device, int64_t asked) {
  if (!device.memory.is_host_memory()) return;
  EXPECT_EQ(asked, 0) << "allocations of memory from the system";
}

class Allocations : public testing::TestWithParam<ModelCase> {};

// As many tokens as the largest batch, in sentences of other numbers and lengths.
std::vector<std::vector<Batch>> smaller_updates(const ModelConfig& config, const Kernels& kernels) {
  std::vector<std::vector<Batch>> updates;
  for (uint64_t i = 0; i < 12; i += is_gpu_table(&kernels) ? 5 : 1) {
    const uint64_t longest = 1 + i * 7 % 30;
    const size_t sentences = static_cast<size_t>(std::min<uint64_t>(40, 120 / longest));
    updates.push_back({random_batch(config, 100 * i, sentences, longest)});
  }
  updates.push_back(
      {random_batch(config, 7, 3, 10), random_batch(config, 8, 9, 4), random_batch(config, 9, 1, 30)});
  return updates;
}

// The most of everything: tokens of both sides, sentences, and the longest of them.
Batch largest_batch(const ModelConfig& config) {
  Batch batch = random_batch(config, 0, 40, 6);
  for (uint64_t i = 0; i < 4; ++i) {
    const Sentence sentence(30, 1);
    batch.pairs.push_back(5000 + i);
    batch.source.add(sentence.data(), sentence.data() + 30);
    batch.target_input.add(sentence.data(), sentence.data() + 30);
    batch.targets.insert(batch.targets.end(), sentence.begin(), sentence.end());
  }
  return batch;
}

TEST_P(Allocations, NoneInAStepOfTraining) {
  const ModelConfig& config = GetParam().named.config;
  SmallModel small(config, *GetParam().kernels, 2, /*gradients=*/true);
  Trainer trainer(small.model, {.clip_norm = 1, .precision = GetParam().precision});
  const std::vector<Batch> largest = {largest_batch(config)};
  const std::vector<std::vector<Batch>> updates = smaller_updates(config, *GetParam().kernels);
  trainer.update(largest, 0.01);
  trainer.update(largest, 0.01);

  Pool& pool = small.device.pool;
  const size_t reached = pool.high_water_mark(), in_use = pool.in_use();
  const int64_t before = allocations();
  for (const std::vector<Batch>& update : updates) trainer.update(update, 0.01);
  trainer.update(largest, 0.01);
  const int64_t asked = allocations() - before;
  expect_none(small.device, asked);
  EXPECT_EQ(pool.high_water_mark(), reached) << "bytes that the pool has";
  EXPECT_EQ(pool.in_use(), in_use);
}

TEST_P(Allocations, NoneForPartsOrOtherWeights) {
  const ModelConfig& config = GetParam().named.config;
  SmallModel small(config, *GetParam().kernels, 2, /*gradients=*/true);
  Trainer trainer(
      small.model,
      {.muon = MuonOptions(), .part_tokens = 50, .precision = GetParam().precision, .int8_weights = true});
  const std::vector<Batch> largest = {largest_batch(config)};
  trainer.update(largest, 0.01);
  trainer.update(largest, 0.01);
  const size_t reached = small.device.pool.high_water_mark();
  const int64_t before = allocations();
  trainer.update(largest, 0.01);
  const int64_t asked = allocations() - before;
  expect_none(small.device, asked);
  EXPECT_EQ(small.device.pool.high_water_mark(), reached);
}

// Products divide their work by its shape: fewer rows or a shorter sum must not need more memory than the largest.
class ProductAllocations : public testing::TestWithParam<const Kernels*> {};

TEST_P(ProductAllocations, NoneForFewerRows) {
  for (const ProductKernels* products : {&GetParam()->products, &GetParam()->low_precision.rounded}) {
    Device device(*GetParam(), 2);
    Context& context = device.context;
    constexpr int64_t most = 900, in = 290, out = 40;
    const Array<float> x(device.pool, random_floats(most * in, 1)),
        w(device.pool, random_floats(in * out, 2));
    const Array<float> y(device.pool, most * out), dw(device.pool, in * out),
        packed(device.pool, products->packed_size(in, out));
    const auto run = [&](int64_t rows) {
      const ConstMatrix a = {x.data(), rows, in, in, 1}, b = {w.data(), in, out, out, 1};
      const Matrix c = {y.data(), rows, out, out};
      products->pack(context, b, packed.data());
      products->product(context, a, {packed.data(), in, out}, c, {});
      products->multiply(context, a, b, c, {});
      products->multiply(context, a.transposed(), c, {dw.data(), in, out, out}, {});
      const SmallProduct small[] = {{a, b, c}, {b.transposed(), b, {dw.data(), out, out, out}}};
      products->multiply_each(context, small, 2);
    };
    run(most);
    run(most);
    const int64_t before = allocations();
    for (int64_t rows = 1; rows < most; rows += rows < 20 ? 1 : 53) run(rows);
    expect_none(device, allocations() - before);
  }
}

INSTANTIATE_TEST_SUITE_P(On, Allocations, testing::ValuesIn(training_cases()), model_case_name);
INSTANTIATE_TEST_SUITE_P(On, ProductAllocations, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
