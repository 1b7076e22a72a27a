// A folder that is created whole or not at all: its files are written under another name, FOLDER.dragoman-new, which
// takes FOLDER's place at the end. After a crash at any instant FOLDER is the old one, the new one or absent, never a
// part. If FOLDER is a link, this holds for its target.
//
// Processes that create the same folder take turns: the constructor waits for the other one to end, and logs that it
// does. A signal that asks to stop (signals.h) ends the wait: Stopped is thrown.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace dragoman::internal {

class AtomicFolder {
 public:
  // An existing FOLDER is replaced only if it is empty or holds the file `mark`; otherwise throws an Error.
  AtomicFolder(const std::string& folder, const std::string& mark);
  ~AtomicFolder();  // removes an unfinished folder
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  const std::string& path() const { return path_; }
  void finish();  // all files are written

 private:
  std::string folder_, path_;
  Descriptor lock_;  // of the unfinished folder, which is its own lock
  bool finished_ = false;
};

}  // namespace dragoman::internal
