// The driver's calls for virtual memory, of a GPU that tests make up. What their rules forbid is refused: a piece that
// is mapped twice, unmapped in part, or overlaps another.
#include <cudaTypedefs.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include <cuda_runtime_api.h>

#include "gpu/fake_gpu.h"

using dragoman::internal::fake_gpu;
using dragoman::internal::FakeGpu;

namespace {

constexpr size_t page = size_t{2} << 20;

std::map<CUdeviceptr, size_t>& mappings() {
  static auto* const sizes = new std::map<CUdeviceptr, size_t>;
  return *sizes;
}

CUresult reserve(CUdeviceptr* start, size_t size, size_t, CUdeviceptr, unsigned long long) {
  if (size % page != 0) return CUDA_ERROR_INVALID_VALUE;
  void* const data = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *start = reinterpret_cast<CUdeviceptr>(data);
  return CUDA_SUCCESS;
}

CUresult free_addresses(CUdeviceptr start, size_t size) {
  const auto inside = mappings().lower_bound(start);
  if (inside != mappings().end() && inside->first < start + size) return CUDA_ERROR_INVALID_VALUE;
  munmap(reinterpret_cast<void*>(start), size);
  return CUDA_SUCCESS;
}

CUresult create(CUmemGenericAllocationHandle* piece, size_t size, const CUmemAllocationProp*,
                unsigned long long) {
  FakeGpu& gpu = fake_gpu();
  if (size % page != 0) return CUDA_ERROR_INVALID_VALUE;
  if (gpu.used + size > gpu.capacity) return CUDA_ERROR_OUT_OF_MEMORY;
  gpu.used += size;
  *piece = size;
  return CUDA_SUCCESS;
}

CUresult release(CUmemGenericAllocationHandle) { return CUDA_SUCCESS; }

CUresult map(CUdeviceptr start, size_t size, size_t, CUmemGenericAllocationHandle piece, unsigned long long) {
  if (piece != size || start % page % 4096 != 0) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& [other, length] : mappings())
    if (start < other + length && other < start + size) return CUDA_ERROR_INVALID_VALUE;
  mappings()[start] = size;
  fake_gpu().mapped.push_back(size);
  return CUDA_SUCCESS;
}

CUresult unmap(CUdeviceptr start, size_t size) {
  const auto found = mappings().find(start);
  if (found == mappings().end() || found->second != size) return CUDA_ERROR_INVALID_VALUE;
  mappings().erase(found);
  fake_gpu().used -= size;
  mprotect(reinterpret_cast<void*>(start), size, PROT_NONE);
  return CUDA_SUCCESS;
}

CUresult set_access(CUdeviceptr start, size_t size, const CUmemAccessDesc*, size_t) {
  const auto found = mappings().find(start);
  if (found == mappings().end() || found->second != size) return CUDA_ERROR_INVALID_VALUE;
  return mprotect(reinterpret_cast<void*>(start), size, PROT_READ | PROT_WRITE) == 0 ? CUDA_SUCCESS
                                                                                     : CUDA_ERROR_UNKNOWN;
}

CUresult granularity(size_t* bytes, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  *bytes = page;
  return CUDA_SUCCESS;
}

CUresult fill_rows(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, CUstream) {
  if (height > 1 && pitch < width * sizeof(value)) return CUDA_ERROR_INVALID_VALUE;
  fake_gpu().stream.add([=] {
    for (size_t row = 0; row < height; ++row)
      std::fill_n(reinterpret_cast<unsigned*>(to + row * pitch), width, value);
  });
  return CUDA_SUCCESS;
}

CUresult fill(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return fill_rows(to, 0, value, count, 1, stream);
}

CUresult error_string(CUresult, const char** words) {
  *words = "fake error";
  return CUDA_SUCCESS;
}

template <class Function>
void* pointer(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                        unsigned long long,
                                                        cudaDriverEntryPointQueryResult* answer) {
  static const std::map<std::string, void*> functions = {
      {"cuMemAddressReserve", pointer(reserve)},
      {"cuMemAddressFree", pointer(free_addresses)},
      {"cuMemCreate", pointer(create)},
      {"cuMemRelease", pointer(release)},
      {"cuMemMap", pointer(map)},
      {"cuMemUnmap", pointer(unmap)},
      {"cuMemSetAccess", pointer(set_access)},
      {"cuMemGetAllocationGranularity", pointer(granularity)},
      {"cuMemsetD32Async", pointer(fill)},
      {"cuMemsetD2D32Async", pointer(fill_rows)},
      {"cuGetErrorString", pointer(error_string)},
  };
  const auto found = functions.find(name);
  *answer = found == functions.end() ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  *function = found == functions.end() ? nullptr : found->second;
  return cudaSuccess;
}
