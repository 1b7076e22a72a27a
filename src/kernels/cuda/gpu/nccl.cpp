#include "kernels/cuda/gpu/nccl.h"

#include <dlfcn.h>

#include <cstdlib>

namespace dragoman::internal {
namespace {

constexpr int oldest_version = 21400;  // the first with communicators whose calls do not block
constexpr unsigned config_magic = 0xcafebeef;

std::string words_of_version(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// False where the library has no function of this name.
template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Nccl& nccl) {
  return find(library, "ncclGetVersion", nccl.get_version) && find(library, "ncclGetUniqueId", nccl.get_id) &&
         find(library, "ncclCommInitRankConfig", nccl.open) && find(library, "ncclCommAbort", nccl.abort) &&
         find(library, "ncclCommGetAsyncError", nccl.get_state) &&
         find(library, "ncclGetErrorString", nccl.words_of) &&
         find(library, "ncclGroupStart", nccl.begin_group) && find(library, "ncclGroupEnd", nccl.end_group) &&
         find(library, "ncclSend", nccl.send) && find(library, "ncclRecv", nccl.receive) &&
         find(library, "ncclAllGather", nccl.all_gather);
}

NcclFound open() {
  const char* const named = std::getenv("DRAGOMAN_NCCL");
  const std::string name = named != nullptr && *named != '\0' ? named : "libnccl.so.2";
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string reason = dlerror();
    return {
        {}, 0, "NCCL cannot be opened (" + reason + "); install it, or name its library in DRAGOMAN_NCCL"};
  }
  NcclFound found = {};
  int version = 0;
  const bool complete = find_all(library, found.functions);
  if (found.functions.get_version != nullptr) found.functions.get_version(&version);
  if (complete && version >= oldest_version) {
    found.version = version;
  } else {
    found.problem =
        name + " is " + (version == 0 ? "no NCCL" : "NCCL " + words_of_version(version)) +
        (version < oldest_version ? ", but " + words_of_version(oldest_version) + " or newer is needed"
                                  : " without one of the functions that are needed");
  }
  return found;
}

}  // namespace

const NcclFound& find_nccl() {
  static const NcclFound found = open();
  return found;
}

NcclConfig nccl_config() {
  return {.size = sizeof(NcclConfig), .magic = config_magic, .version = oldest_version, .blocking = 0};
}

}  // namespace dragoman::internal
