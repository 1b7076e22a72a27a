#include "kernels/cuda/gpu/fail.h"

#include <cstdio>
#include <cstdlib>

namespace dragoman::internal {
namespace {

void (*program_fail)(const char* message) = nullptr;

}  // namespace

void report_failures_to(void (*fail)(const char* message)) { program_fail = fail; }

void fail(const std::string& message) {
  if (program_fail != nullptr) program_fail(message.c_str());
  std::abort();  // the program's function throws
}

std::string size_in_words(size_t bytes) {
  char text[32];
  const double size = static_cast<double>(bytes);
  if (size < 1e9) {
    std::snprintf(text, sizeof(text), "%.0f MB", size / 1e6);
  } else {
    std::snprintf(text, sizeof(text), "%.1f GB", size / 1e9);
  }
  return text;
}

}  // namespace dragoman::internal
