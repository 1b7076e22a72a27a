// NCCL's functions. The library is opened at run time, since only training with several processes needs it: neither the
// program nor the plug-in is linked with it, and none of its headers is needed to build them.
#pragma once

#include <string>

#include <cuda_runtime_api.h>

namespace dragoman::internal {

struct NcclCommunicator;  // which only NCCL knows

struct NcclId {
  char bytes[128];
};

// As far as the first version that we use knows it: the library treats what later ones have added as unset.
struct NcclConfig {
  size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
};

enum class NcclResult : int { success = 0, in_progress = 7 };  // the others are errors
enum class NcclType : int { float32 = 7, bfloat16 = 9 };

struct Nccl {
  NcclResult (*get_version)(int* version);
  NcclResult (*get_id)(NcclId* id);
  NcclResult (*open)(NcclCommunicator**, int count, NcclId id, int number, NcclConfig*);
  NcclResult (*abort)(NcclCommunicator*);
  NcclResult (*get_state)(NcclCommunicator*, NcclResult* state);
  const char* (*words_of)(NcclResult);
  NcclResult (*begin_group)();
  NcclResult (*end_group)();
  NcclResult (*send)(const void*, size_t count, NcclType, int to, NcclCommunicator*, cudaStream_t);
  NcclResult (*receive)(void*, size_t count, NcclType, int from, NcclCommunicator*, cudaStream_t);
  NcclResult (*all_gather)(const void* own, void* all, size_t own_count, NcclType, NcclCommunicator*,
                           cudaStream_t);
};

struct NcclFound {
  Nccl functions;
  int version;          // 22907 is 2.29.7; 0: it cannot be used
  std::string problem;  // then, why
};

// The library that DRAGOMAN_NCCL names, or libnccl.so.2.
const NcclFound& find_nccl();

// Whose calls return at once: what is not done is `in_progress`.
NcclConfig nccl_config();

}  // namespace dragoman::internal
