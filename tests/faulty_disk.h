// A disk that fails when a test wants it to: this program's calls of write, pwrite, fsync, fdatasync and rename are
// counted, and one of them, or all from one on, goes wrong. To be included by one file of a test program.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace dragoman::internal {

// lost: a write that is reported as done. death: the process ends in the middle of the call.
enum class Fault { none, no_space, full_from_here, io_error, lost, death };

struct FaultyDisk {
  Fault fault = Fault::none;
  int64_t at = 0;     // the number of the call that goes wrong
  int64_t calls = 0;  // since this was set

  bool strikes() {
    const int64_t call = std::atomic_ref(calls)++;  // threads of a test write, too
    return fault == Fault::full_from_here ? call >= at : fault != Fault::none && call == at;
  }
  int refuse() const {
    if (fault == Fault::death) _exit(9);
    errno = fault == Fault::io_error ? EIO : ENOSPC;
    return -1;
  }
};
inline FaultyDisk faulty_disk;

}  // namespace dragoman::internal

extern "C" {

ssize_t write(int file, const void* data, size_t size) {
  using dragoman::internal::Fault, dragoman::internal::faulty_disk;
  if (file > STDERR_FILENO && faulty_disk.strikes()) {
    if (faulty_disk.fault == Fault::lost) {  // a hole is left
      const off_t skipped = lseek(file, static_cast<off_t>(size), SEEK_CUR);
      return skipped < 0 || ftruncate(file, skipped) != 0 ? -1 : static_cast<ssize_t>(size);
    }
    if (faulty_disk.fault == Fault::death) (void)!syscall(SYS_write, file, data, size / 2);
    return faulty_disk.refuse();
  }
  return syscall(SYS_write, file, data, size);
}

// One that fails has written a part, as on a disk that is nearly full.
ssize_t pwrite(int file, const void* data, size_t size, off_t begin) {
  using dragoman::internal::Fault, dragoman::internal::faulty_disk;
  if (faulty_disk.strikes()) {
    if (faulty_disk.fault == Fault::lost) return static_cast<ssize_t>(size);
    (void)!syscall(SYS_pwrite64, file, data, size / 2, begin);
    return faulty_disk.refuse();
  }
  return syscall(SYS_pwrite64, file, data, size, begin);
}

// Nothing is flushed, which takes long: no test cuts the power.
int fsync(int) {
  using dragoman::internal::Fault, dragoman::internal::faulty_disk;
  if (faulty_disk.strikes() && faulty_disk.fault != Fault::lost) return faulty_disk.refuse();
  return 0;
}

int fdatasync(int file) { return fsync(file); }

int rename(const char* from, const char* to) noexcept {
  using dragoman::internal::Fault, dragoman::internal::faulty_disk;
  if (faulty_disk.strikes() && faulty_disk.fault != Fault::lost) return faulty_disk.refuse();
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

}  // extern "C"
