// docs/options.md comes from the declarations. If this test fails:
//   DRAGOMAN_WRITE_DOCS=1 build/release/tests/test_app --gtest_filter='*OptionsPage*'
#include <cstdlib>

#include <gtest/gtest.h>

#include "app/commands.h"
#include "base/files.h"
#include "train/recipe.h"

namespace dragoman::internal {
namespace {

std::string section_of(const Command& command) {
  testing::internal::CaptureStdout();
  command.run({"--help=markdown"});
  return testing::internal::GetCapturedStdout();
}

TEST(OptionsPage, SaysWhatIsDeclared) {
  Recipe recipe;
  Options options;
  declare(options, recipe);
  std::string page =
      "# Options\n\n"
      "This page is generated from the declarations in `src/`: edit those.\n\n"
      "First come the tables of a recipe. Each option is a key of its table, and a flag of the same name:\n"
      "`--model.d_model 512`. Then come the commands with their own options, which are flags alone: `--beam "
      "5`.\n"
      "Commas separate the items of a list, and `\"\"` empties it: `--data.source a.txt,b.txt`.\n\n" +
      options.markdown();
  for (const Command& command : commands) page += section_of(command);
  page.pop_back();
  const std::string path = DRAGOMAN_SOURCE_DIR "/docs/options.md";
  if (std::getenv("DRAGOMAN_WRITE_DOCS") != nullptr) write_file(path, {page});
  EXPECT_EQ(read_file(path), page);
}

}  // namespace
}  // namespace dragoman::internal
