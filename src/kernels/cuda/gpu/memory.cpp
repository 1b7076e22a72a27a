#include "kernels/cuda/gpu/memory.h"

#include <algorithm>
#include <bit>
#include <new>

#include "kernels/cuda/gpu/driver.h"
#include "kernels/cuda/gpu/fail.h"
#include "kernels/cuda/gpu/gpu.h"

namespace dragoman::internal {
namespace {

// Mapping takes a fraction of a millisecond, so that ranges grow by at least this much, and by a share of all.
constexpr size_t smallest_growth = size_t{64} << 20, share_of_growth = 16;

CUdeviceptr address(void* data) { return reinterpret_cast<CUdeviceptr>(data); }

CUmemAllocationProp properties_of(const Gpu& gpu) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, gpu.number()};
  return properties;
}

}  // namespace

CudaMemory::CudaMemory(Gpu& gpu) : gpu_(gpu), uploads_(gpu) {
  const CUmemAllocationProp properties = properties_of(gpu);
  check(driver().granularity(&granularity_, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
        "asking for its memory's pages");
}

void* CudaMemory::reserve(size_t bytes) {
  const size_t size = rounded(bytes);
  CUdeviceptr start = 0;
  gpu_.use();
  const CUresult reserved = driver().reserve(&start, size, 0, 0, 0);
  if (reserved == CUDA_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  check(reserved, "reserving addresses");
  void* const data = reinterpret_cast<void*>(start);
  const std::lock_guard lock(mutex_);
  ranges_.emplace(data, Range{size});
  return data;
}

// In destructors, so that it throws nothing: where the GPU is lost, its memory is free.
void CudaMemory::release(void* data, size_t) {
  gpu_.use();
  cudaStreamSynchronize(gpu_.stream());
  const std::lock_guard lock(mutex_);
  const auto range = ranges_.find(data);
  if (range == ranges_.end()) return;
  CUdeviceptr piece = address(data);
  for (const size_t size : range->second.pieces) {
    driver().unmap(piece, size);
    piece += size;
  }
  driver().free_addresses(address(data), range->second.size);
  mapped_ -= range->second.mapped;
  ranges_.erase(range);
}

void CudaMemory::commit(void* data, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(data);
  if (found == ranges_.end() || bytes > found->second.size) fail("memory that was not reserved is committed");
  Range& range = found->second;
  if (bytes <= range.mapped) return;
  const size_t needed = rounded(bytes - range.mapped);
  const size_t wanted = std::min(std::max({needed, smallest_growth, rounded(mapped_ / share_of_growth)}),
                                 range.size - range.mapped);
  if (grow(data, range, wanted)) return;
  gpu_.trim();
  if (!grow(data, range, needed)) gpu_.out_of_memory(needed);
}

// False where the GPU has no more memory.
bool CudaMemory::grow(void* data, Range& range, size_t bytes) {
  gpu_.use();
  const CUmemAllocationProp properties = properties_of(gpu_);
  CUmemGenericAllocationHandle piece = 0;
  const CUresult created = driver().create(&piece, bytes, &properties, 0);
  if (created == CUDA_ERROR_OUT_OF_MEMORY) return false;
  check(created, "taking memory");
  const CUdeviceptr start = address(data) + range.mapped;
  const CUresult mapped = driver().map(start, bytes, 0, piece, 0);
  driver().release(piece);  // the mapping keeps it
  check(mapped, "mapping memory");
  const CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  const CUresult opened = driver().set_access(start, bytes, &access, 1);
  if (opened != CUDA_SUCCESS) driver().unmap(start, bytes);
  check(opened, "opening memory");
  range.pieces.push_back(bytes);
  range.mapped += bytes;
  mapped_ += bytes;
  return true;
}

void CudaMemory::upload(void* to, const void* from, size_t bytes) { uploads_.upload(to, from, bytes); }

void CudaMemory::download(void* to, const void* from, size_t bytes) { gpu_.download(to, from, bytes); }

void CudaMemory::copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  gpu_.use();
  gpu_.check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, gpu_.stream()), "a copy");
}

void CudaMemory::fill(Matrix to, float value) {
  if (to.rows <= 0 || to.columns <= 0) return;
  gpu_.use();
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto rows = static_cast<size_t>(to.rows), columns = static_cast<size_t>(to.columns);
  const size_t pitch = static_cast<size_t>(to.stride) * sizeof(float);
  if (to.rows == 1 || to.stride == to.columns) {
    check(driver().fill(address(to.data), bits, rows * columns, gpu_.stream()), "a fill");
  } else {
    check(driver().fill_rows(address(to.data), pitch, bits, columns, rows, gpu_.stream()), "a fill");
  }
}

std::shared_ptr<const void> CudaMemory::adopt(std::shared_ptr<const void> host, size_t bytes) {
  void* const data = gpu_.allocate(bytes);
  std::shared_ptr<const void> copy(data, [&gpu = gpu_](void* adopted) { gpu.free(adopted); });
  upload(data, host.get(), bytes);
  return copy;
}

}  // namespace dragoman::internal
