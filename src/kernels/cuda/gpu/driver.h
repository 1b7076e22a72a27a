// The driver's calls for addresses and the memory behind them, which CUDA's runtime has no words for. They are asked
// for by name, so that the plug-in needs no library of the driver's to be opened.
#pragma once

#include <cudaTypedefs.h>

#include <string>

namespace dragoman::internal {

struct Driver {
  PFN_cuMemAddressReserve_v10020 reserve;
  PFN_cuMemAddressFree_v10020 free_addresses;
  PFN_cuMemCreate_v10020 create;
  PFN_cuMemRelease_v10020 release;
  PFN_cuMemMap_v10020 map;
  PFN_cuMemUnmap_v10020 unmap;
  PFN_cuMemSetAccess_v10020 set_access;
  PFN_cuMemGetAllocationGranularity_v10020 granularity;
  PFN_cuMemsetD32Async_v3020 fill;
  PFN_cuMemsetD2D32Async_v3020 fill_rows;
  PFN_cuGetErrorString_v6000 error_string;
};

const Driver& driver();

std::string words_of(CUresult result);

// Throws Error unless it is CUDA_SUCCESS; `doing` is what was tried.
void check(CUresult result, const char* doing);

}  // namespace dragoman::internal
