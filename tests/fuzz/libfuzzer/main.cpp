// The fuzzer: fuzz_readers --target=NAME [libFuzzer's own arguments], --targets to list them, --seeds=FOLDER to write
// the seeds of all of them to FOLDER/NAME.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/log.h"
#include "fuzz/targets.h"

namespace dragoman::internal {
namespace {

const FuzzTarget* target = nullptr;

void list_targets() {
  for (const FuzzTarget& each : fuzz_targets()) std::puts(each.name);
}

void write_seeds(const std::filesystem::path& folder) {
  for (const FuzzTarget& each : fuzz_targets()) {
    std::filesystem::create_directories(folder / each.name);
    int number = 0;
    for (const std::string& seed : each.seeds())
      std::ofstream(folder / each.name / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
  }
}

void read_arguments(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    const auto value = [&](std::string_view flag) {
      return word.starts_with(flag) ? word.substr(flag.size()) : "";
    };
    if (word == "--targets") {
      list_targets();
      std::exit(0);
    }
    if (const auto folder = value("--seeds="); !folder.empty()) {
      write_seeds(folder);
      std::exit(0);
    }
    for (const FuzzTarget& each : fuzz_targets()) {
      if (value("--target=") == each.name) target = &each;
    }
  }
  set_log_level(LogLevel::off);
  if (target != nullptr) return;
  std::fputs("fuzz_readers: --target=NAME is needed; --targets lists the names\n", stderr);
  std::exit(2);
}

}  // namespace
}  // namespace dragoman::internal

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  dragoman::internal::read_arguments(*count, *arguments);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dragoman::internal::target->read({reinterpret_cast<const char*>(data), size});
  return 0;
}
