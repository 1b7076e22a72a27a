// A folder that is made whole or not at all: its files are written under another name, FOLDER.new, which takes
// FOLDER's place at the end. After a crash at any instant FOLDER is the old one, the new one or absent, never a part.
//
// Processes that make the same folder take turns: the constructor waits for the other one to end.
#pragma once

#include <string>

namespace dragoman {

class AtomicFolder {
 public:
  // An old FOLDER may be replaced if it holds the file `mark`, or nothing; else it is somebody's, and an Error.
  AtomicFolder(const std::string& folder, const std::string& mark);
  ~AtomicFolder();  // removes what was not finished
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  const std::string& path() const { return path_; }
  void finish();  // everything is in it

 private:
  void lock();

  std::string folder_, path_;
  int lock_ = -1;
  bool finished_ = false;
};

}  // namespace dragoman
