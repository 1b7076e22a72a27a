// A launch as the host runs it, and places in the source of its kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dragoman::internal::on_host {

struct Place {
  const char* file;
  int line;
};

struct Launch {
  const char* kernel;  // its name, for errors
  int64_t blocks;
  int threads;
  size_t shared_bytes;
  void (*body)(const void* argument);  // of a thread
  const void* argument;
};

}  // namespace dragoman::internal::on_host
