// RunLock: one run at a time in a folder.
#pragma once

#include <string>

namespace dragoman::internal {

// The system releases the lock when the process ends.
class RunLock {
 public:
  // Makes the folder if it is missing, and removes it in the end if the run failed before it wrote anything. Throws
  // Error while another run has it; a file system without locks admits all.
  explicit RunLock(const std::string& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  std::string folder_;
  bool made_folder_ = false;
  int file_ = -1;
};

// Whether a run trains in this folder, of this process or another.
bool is_training(const std::string& folder);

}  // namespace dragoman::internal
