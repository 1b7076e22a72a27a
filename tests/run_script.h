// Tests that are scripts: they succeed, or end with status 77 where what they need is not here.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace dragoman::internal {

// Scripts that start the program many times say nothing about memory that the program's own tests do not.
inline void expect_script_passes(const std::string& command) {
#if defined(DRAGOMAN_ADDRESS_SANITIZER) || defined(DRAGOMAN_THREAD_SANITIZER)
  GTEST_SKIP() << "too slow under sanitizers: " << command;
#endif
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  for (int c = 0; (c = fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  const int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << output;
  EXPECT_EQ(status, 0) << output;
}

}  // namespace dragoman::internal
