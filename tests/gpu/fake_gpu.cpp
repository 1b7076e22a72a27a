#include "gpu/fake_gpu.h"

#include "base/error.h"
#include "kernels/cuda/gpu/fail.h"

namespace dragoman::internal {

FakeGpu& fake_gpu() {
  static auto* const gpu = new FakeGpu;
  return *gpu;
}

void reset_fake_gpu() {
  FakeGpu& gpu = fake_gpu();
  gpu.run_all();
  const size_t used = gpu.used, done = gpu.stream.done;
  gpu = FakeGpu();
  gpu.used = used;
  gpu.stream.done = done;
}

void report_failures() {
  report_failures_to([](const char* message) { throw Error("{}", message); });
}

std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace dragoman::internal
