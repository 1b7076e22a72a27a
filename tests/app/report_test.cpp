// dragoman report, as a user meets it.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "app/commands.h"
#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {
namespace {

class ReportCommand : public testing::Test {
 protected:
  ReportCommand() {
    for (const char* name : {"/one", "/two"}) {
      std::filesystem::create_directories(folder_ + name);
      std::ofstream(folder_ + name + "/metrics.jsonl") << "{\"event\":\"train\",\"step\":1,\"loss\":2.5}\n";
    }
  }
  ~ReportCommand() override { std::filesystem::remove_all(folder_); }

  std::string print(const Arguments& arguments) const {
    testing::internal::CaptureStdout();
    report(arguments);
    return testing::internal::GetCapturedStdout();
  }

  const std::string folder_ = testing::TempDir() + "report";
};

TEST_F(ReportCommand, WritesOnePageOfSeveralRuns) {
  const std::string out = folder_ + "/page.html";
  EXPECT_EQ(print({folder_ + "/one", folder_ + "/two", "--out", out}), out + "\n");
  const std::string page = read_file(out);
  EXPECT_NE(page.find("\"name\":\"one\""), std::string::npos);
  EXPECT_NE(page.find("\"name\":\"two\""), std::string::npos);
  EXPECT_EQ(print({folder_ + "/one", folder_ + "/two", "--out", "-"}), page);
}

TEST_F(ReportCommand, NeedsAFolderAndAHistoryInIt) {
  EXPECT_THROW(report({}), UsageError);
  EXPECT_THROW(report({folder_, "--out", folder_ + "/page.html"}), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/page.html"));
}

TEST_F(ReportCommand, ChecksTheOutputFirst) {
  try {
    report({folder_ + "/without-a-history", "--out", folder_});
    ADD_FAILURE() << "a page in place of a folder";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "cannot write " + folder_ + ": it is a folder; name a file in it");
  }
}

}  // namespace
}  // namespace dragoman::internal
