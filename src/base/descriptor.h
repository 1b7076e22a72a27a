// Descriptor: an open file or folder, which closes itself. Failures are an Error with the path and the system's reason.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>

namespace dragoman::internal {

class Descriptor {
 public:
  Descriptor() = default;  // nothing is open
  // With the flags of open(). A new file gets the permissions that the umask leaves.
  Descriptor(const std::string& path, int flags);
  // The same, but nothing is open if there is no such file.
  static Descriptor if_there(const std::string& path, int flags);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

  size_t read_some(char* to, size_t size);  // how many bytes; 0: the file's end
  void write_all(std::string_view data);
  bool try_to_write_all(std::string_view data);  // false: errno says why
  void flush();                                  // to the disk

  // Locks it until it is closed, or the process dies; false if another one has the lock. Where the file system has no
  // locks everybody gets it.
  bool try_to_lock();

 private:
  [[noreturn]] void fail(const char* action, int reason = errno) const;

  std::string path_;
  int number_ = -1;
};

}  // namespace dragoman::internal
