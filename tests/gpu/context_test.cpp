// What kernels run on, and what the plug-in says of the driver.
#include "kernels/cuda/gpu/context.h"

#include <cstring>

#include <gtest/gtest.h>

#include "gpu/fake_gpu.h"
#include "kernels/cuda/table.h"
#include "kernels/cuda_plugin.h"
#include "kernels/memory.h"

extern "C" const dragoman::internal::CudaPlugin* dragoman_cuda_plugin();

namespace dragoman::internal {

// Stand for the kernels, which nvcc compiles.
Kernels cuda_kernels_on(const char* name, Context* (*new_context)(int threads), DeviceMemory& (*memory)()) {
  return {.name = name, .new_context = new_context, .memory = memory};
}
void use_tf32(Kernels& kernels) { kernels.name = "cuda-tf32"; }

namespace {

class CudaContextTest : public testing::Test {
 protected:
  CudaContextTest() {
    report_failures();
    reset_fake_gpu();
  }
  ~CudaContextTest() override { reset_fake_gpu(); }
};

TEST_F(CudaContextTest, TheWorkspaceGrowsAndStays) {
  fake_gpu().run_all();
  const size_t used = fake_gpu().used;
  {
    CudaContext context(Gpu::of(0), 3);
    EXPECT_EQ(context.threads(), 3);
    void* const first = context.workspace(1000);
    EXPECT_EQ(context.workspace(10), first);
    EXPECT_EQ(context.workspace(1 << 20), first);
    context.workspace(3 << 20);
    fake_gpu().run_all();
    EXPECT_EQ(fake_gpu().used, used + (4 << 20));
  }
  fake_gpu().run_all();
  EXPECT_EQ(fake_gpu().used, used);
}

// A kernel that was launched before the workspace grew may still use the old one.
TEST_F(CudaContextTest, AnOldWorkspaceIsFreedInTheStreamsOrder) {
  CudaContext context(Gpu::of(0), 1);
  auto* const workspace = static_cast<char*>(context.workspace(100));
  std::memset(workspace, 7, 100);
  char seen = 0;
  fake_gpu().stream.add([&] { seen = workspace[99]; });
  context.workspace(100 << 20);
  fake_gpu().run_all();
  EXPECT_EQ(seen, 7);
}

TEST_F(CudaContextTest, AFailedLaunchNamesItsKernel) {
  CudaContext context(Gpu::of(0), 1);
  context.launched("attention");
  fake_gpu().launch_status = cudaErrorInvalidConfiguration;
  EXPECT_EQ(failure_of([&] { context.launched("attention"); }),
            "cuda:0 (Fake) refuses attention: fake error");
  fake_gpu().launch_status = cudaErrorNoKernelImageForDevice;
  EXPECT_NE(failure_of([&] { context.launched("norm"); }).find("DRAGOMAN_CUDA_ARCHITECTURES"),
            std::string::npos);
  fake_gpu().launch_status = cudaErrorLaunchFailure;
  EXPECT_NE(failure_of([&] { context.launched("norm"); }).find("has failed, which was found at norm"),
            std::string::npos);
  context.launched("norm");
}

TEST_F(CudaContextTest, AGpuThatCannotBeOpenedMayBeTriedAgain) {
  fake_gpu().count = 3;
  fake_gpu().start_status = cudaErrorDevicesUnavailable;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(failure_of([] { Gpu::of(2); }),
              "cuda:2 (Fake) cannot be used: fake error; see with nvidia-smi what else uses it");
  fake_gpu().start_status = cudaSuccess;
  EXPECT_EQ(Gpu::of(2).number(), 2);
}

TEST_F(CudaContextTest, MemoryThatIsTooSmallIsASentence) {
  CudaContext context(Gpu::of(0), 1);
  const std::string failure = failure_of([&] { context.workspace(size_t{5} << 30); });
  EXPECT_NE(failure.find("but 5.4 GB more are needed"), std::string::npos) << failure;
}

TEST_F(CudaContextTest, ThePluginTellsNoDriverFromNoGpu) {
  const CudaPlugin& plugin = *dragoman_cuda_plugin();
  EXPECT_EQ(plugin.driver().gpus, 1);
  EXPECT_EQ(plugin.driver().problem, nullptr);
  fake_gpu().count_status = cudaErrorNoDevice;
  EXPECT_EQ(plugin.driver().gpus, 0);
  EXPECT_EQ(plugin.driver().problem, nullptr);
  fake_gpu().count_status = cudaErrorInsufficientDriver;
  fake_gpu().driver_version = 12080;
  EXPECT_EQ(plugin.driver().version, 12080);
  EXPECT_NE(plugin.driver().problem, nullptr);
}

TEST_F(CudaContextTest, EachGpuHasTablesOfItsOwn) {
  const CudaPlugin& plugin = *dragoman_cuda_plugin();
  const Kernels& first = *plugin.table(0, false);
  EXPECT_EQ(plugin.table(0, false), &first);
  EXPECT_STREQ(plugin.table(0, true)->name, "cuda-tf32");
  EXPECT_EQ(plugin.table(0, true)->memory, first.memory);
  EXPECT_NE(plugin.table(1, false)->memory, first.memory);
  EXPECT_EQ(&first.memory(), &first.memory());
  EXPECT_FALSE(first.memory().is_host_memory());
  const std::unique_ptr<Context> context(first.new_context(2));
  const std::unique_ptr<Context> other(context->clone(5));
  EXPECT_EQ(other->threads(), 5);
  EXPECT_EQ(static_cast<GpuContext&>(*context).stream(), static_cast<GpuContext&>(*other).stream());
  CudaGpu gpu = {};
  plugin.describe(0, &gpu);
  EXPECT_STREQ(gpu.name, "Fake");
  EXPECT_EQ(gpu.major, 9);
  EXPECT_EQ(plugin.free_memory(0), static_cast<int64_t>(fake_gpu().capacity - fake_gpu().used));
}

}  // namespace
}  // namespace dragoman::internal
