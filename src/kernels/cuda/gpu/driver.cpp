#include "kernels/cuda/gpu/driver.h"

#include <cuda_runtime_api.h>

#include "kernels/cuda/gpu/fail.h"

namespace dragoman::internal {
namespace {

// `version` is CUDA's that the function's type is of.
template <class Function>
void find(Function& function, const char* name, unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult answer = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &answer);
  if (status != cudaSuccess || answer != cudaDriverEntryPointSuccess || found == nullptr)
    fail(std::string("NVIDIA's driver has no ") + name + ": update it");
  function = reinterpret_cast<Function>(found);
}

Driver find_all() {
  constexpr unsigned virtual_memory = 10020;
  Driver driver = {};
  find(driver.reserve, "cuMemAddressReserve", virtual_memory);
  find(driver.free_addresses, "cuMemAddressFree", virtual_memory);
  find(driver.create, "cuMemCreate", virtual_memory);
  find(driver.release, "cuMemRelease", virtual_memory);
  find(driver.map, "cuMemMap", virtual_memory);
  find(driver.unmap, "cuMemUnmap", virtual_memory);
  find(driver.set_access, "cuMemSetAccess", virtual_memory);
  find(driver.granularity, "cuMemGetAllocationGranularity", virtual_memory);
  find(driver.fill, "cuMemsetD32Async", 3020);
  find(driver.fill_rows, "cuMemsetD2D32Async", 3020);
  find(driver.error_string, "cuGetErrorString", 6000);
  return driver;
}

}  // namespace

const Driver& driver() {
  static const Driver found = find_all();
  return found;
}

std::string words_of(CUresult result) {
  const char* words = nullptr;
  driver().error_string(result, &words);
  return words == nullptr ? "error " + std::to_string(result) : words;
}

void check(CUresult result, const char* doing) {
  if (result != CUDA_SUCCESS) fail(std::string("the GPU failed at ") + doing + ": " + words_of(result));
}

}  // namespace dragoman::internal
