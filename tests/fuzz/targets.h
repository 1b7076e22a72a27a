// Everything of this project that reads files from elsewhere, each as a function of the file's bytes.
//
// A target returns for any bytes at all: it reads them, uses what it read as the program would, and takes an Error, the
// one exception that a reader may throw, for a refusal. replay_test.cpp runs the targets on their seeds and on damaged
// seeds, with any compiler; libfuzzer/main.cpp is the program that `make fuzz` starts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

struct FuzzTarget {
  const char* name;
  std::string (*read)(std::string_view bytes);  // why the reader refused them; empty: it did not
  std::vector<std::string> (*seeds)();          // valid files, from which a fuzzer starts
};

std::span<const FuzzTarget> fuzz_targets();

}  // namespace dragoman::internal
