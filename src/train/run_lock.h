// RunLock: one run at a time in a model's folder. The system lets go of it when the process dies.
#pragma once

#include <string>

namespace dragoman {

class RunLock {
 public:
  // Makes the folder where it is missing. An Error where another run has it; a file system without locks lets all in.
  explicit RunLock(const std::string& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int file_;
};

}  // namespace dragoman
