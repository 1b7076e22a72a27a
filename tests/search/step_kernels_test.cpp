// How many kernels a step of decoding launches: of a single sentence they are what its time consists of, so that
// bench/gpu_decoding_cost.py, which lists them, must have as many.
#if defined(DRAGOMAN_CUDA_ON_HOST)
#include "kernels/cuda/host/context.h"
#include "model/small_models.h"
#include "search/search.h"

namespace dragoman::internal {
namespace {

class CountingContext final : public GpuContext {
 public:
  explicit CountingContext(int threads) : host_(threads) {}
  static Context* create(int threads) { return new CountingContext(threads); }

  int threads() const override { return host_.threads(); }
  void limit_threads(int) override {}
  Context* clone(int threads) const override { return create(threads); }
  void* stream() override { return host_.stream(); }
  void launched(const char*) override { ++kernels; }
  void* workspace(size_t bytes) override { return host_.workspace(bytes); }
  void multiply(const Matmul& product) override {
    ++kernels;
    host_.multiply(product);
  }
  void download(void* to, const void* from, size_t bytes) override { host_.download(to, from, bytes); }

  int kernels = 0;

 private:
  HostGpuContext host_;
};

TEST(StepKernels, AreThoseOfTheModelOfItsCost) {
  Kernels table = cuda_on_host();
  table.new_context = CountingContext::create;
  for (const int64_t layers : {1, 3}) {
    ModelConfig config = {
        .encoder_layers = 1, .decoder_layers = layers, .d_model = 32, .heads = 2, .d_ff = 64};
    config.source_vocabulary = config.target_vocabulary = 64;
    SmallModel small(config, table, 1);
    quantize_weights(small.device, small.model.parameters, Precision::bf16);
    auto& context = dynamic_cast<CountingContext&>(small.device.context);
    for (const int64_t beam : {1, 4}) {
      Search search({&small.model}, {.sentences = 4});
      search.add(0, {.source = {5, 6, 7}, .options = {.beam = beam, .max_length = 20}});
      search.step();
      context.kernels = 0;
      search.step();
      // Its list has one more, the clearing of a few numbers, which here is no kernel.
      EXPECT_EQ(context.kernels, 15 * layers + 8) << layers << " layers, beam " << beam;
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
#endif
