// A plug-in as devices_test.cpp wants it: environment variables say what it finds. Its tables have no kernels.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/cuda_plugin.h"

namespace dragoman::internal {
namespace {

int number(const char* variable, int otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atoi(value);
}

void (*program_fail)(const char* message) = nullptr;

void start(void (*fail)(const char* message)) { program_fail = fail; }

CudaDriver driver() {
  return {number("FAKE_DRIVER", 13010), 13000, 130102, number("FAKE_GPUS", 2), std::getenv("FAKE_PROBLEM")};
}

// The first is old where FAKE_OLD says so. Of one kind where FAKE_KIND says which.
void describe(int gpu, CudaGpu* description) {
  std::snprintf(description->name, sizeof(description->name), "Fake %d", number("FAKE_KIND", gpu));
  description->major = gpu < number("FAKE_OLD", 0) ? 7 : 9;
  description->minor = 5;
  description->memory = int64_t{80} << 30;
  description->id[0] = static_cast<unsigned char>(gpu);
}

int64_t free_memory(int gpu) {
  if (gpu < number("FAKE_LOST", 0)) program_fail("the GPU does not answer");
  return int64_t{40} << gpu;
}

const Kernels* table(int gpu, bool tf32) {
  static Kernels tables[2][4] = {};
  Kernels& found = tables[tf32 ? 1 : 0][gpu];
  found.name = tf32 ? "fake-tf32" : "fake";
  return &found;
}

NcclLibrary nccl() {
  const int version = number("FAKE_NCCL", 22907);
  return {version, version == 0 ? "it is not here" : nullptr};
}

}  // namespace
}  // namespace dragoman::internal

extern "C" __attribute__((visibility("default"))) const dragoman::internal::CudaPlugin*
dragoman_cuda_plugin() {
  using namespace dragoman::internal;
  static CudaPlugin plugin = {.version = nullptr,
                              .tables_size = 0,
                              .start = start,
                              .driver = driver,
                              .describe = describe,
                              .free_memory = free_memory,
                              .table = table,
                              .nccl = nccl};
  const char* const version = std::getenv("FAKE_VERSION");
  plugin.version = version == nullptr ? FAKE_PROGRAM_VERSION : version;
  plugin.tables_size = number("FAKE_SIZE", cuda_plugin_tables_size);
  return &plugin;
}
