// A limit on the size of files, which stands for a full disk as long as the object lives.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace dragoman::internal {

class FullDisk {
 public:
  // Files may grow to `bytes`, and no further.
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_ = {};
};

}  // namespace dragoman::internal
