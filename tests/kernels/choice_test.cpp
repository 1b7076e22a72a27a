// Which table of kernels a program gets.
#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/kernels.h"

namespace dragoman {
namespace {

TEST(KernelChoice, TheBestOfTheMachineUnlessAnotherIsNamed) {
  const KernelTables available = available_kernels();
  ASSERT_GE(available.count, 1);
  EXPECT_STREQ(available.tables[0]->name, "baseline");
  EXPECT_EQ(&kernels_for(nullptr), available.tables[available.count - 1]);
  EXPECT_EQ(&kernels_for(""), available.tables[available.count - 1]);
  for (int i = 0; i < available.count; ++i) {
    EXPECT_EQ(&kernels_for(available.tables[i]->name), available.tables[i]);
  }
}

TEST(KernelChoice, AnUnknownOneIsAnErrorThatListsWhatThereIs) {
  try {
    kernels_for("avx1024");
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("avx1024"), std::string::npos);
    const KernelTables available = available_kernels();
    for (int i = 0; i < available.count; ++i) {
      EXPECT_NE(message.find(available.tables[i]->name), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace dragoman
