#include "base/build.h"

#include "dragoman/version.h"

namespace dragoman::internal {

std::string version() { return DRAGOMAN_VERSION; }

std::string build_name() {
#if defined(__clang__)
  return version() + ", clang " __clang_version__;
#else
  return version() + ", gcc " __VERSION__;
#endif
}

}  // namespace dragoman::internal
