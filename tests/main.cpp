// The main function of every program of tests: each process has a temporary folder of its own, so that tests which run
// side by side may give their files the same names.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "base/log.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  dragoman::internal::set_log_level(dragoman::internal::LogLevel::info);  // as the program does
  std::string folder = (std::filesystem::temp_directory_path() / "dragoman-tests-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    std::cerr << "cannot make a folder like " << folder << '\n';
    return 1;
  }
  setenv("TMPDIR", folder.c_str(), 1);       // for temp_directory_path and the programs that tests start
  setenv("TEST_TMPDIR", folder.c_str(), 1);  // for testing::TempDir
  const int failed = RUN_ALL_TESTS();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return failed;
}
