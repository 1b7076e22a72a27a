// docs/options.md comes from the declarations. If this test fails:
//   DRAGOMAN_WRITE_DOCS=1 build/release/tests/test_app --gtest_filter='*OptionsPage*'
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/commands.h"
#include "app/shared_options.h"
#include "base/files.h"
#include "student/config.h"
#include "train/recipe.h"

namespace dragoman::internal {
namespace {

std::string section_of(const Command& command) {
  testing::internal::CaptureStdout();
  command.run({"--help=markdown"});
  return testing::internal::GetCapturedStdout();
}

// The tables that only a student's recipe has.
std::string tables_of_students() {
  StudentRecipe recipe;
  Options options;
  declare(options, recipe);
  std::string text;
  for (const char* table : {"student", "clean"})
    text += fmt::format("## `[{}]` {}\n\n{}\n", table, options.title(table), options.markdown(table));
  return text;
}

TEST(OptionsPage, SaysWhatIsDeclared) {
  Recipe recipe;
  SearchOptions search;
  Options options, of_search;
  declare(options, recipe);
  declare_search(of_search, search);
  std::string page =
      "# Options\n\n"
      "This page is generated from the declarations in `src/`: edit those.\n\n"
      "First come the tables of a recipe. Each option is a key of its table, and a flag of the same name:\n"
      "`--model.d_model 512`. Then come the options of a search, which several commands have, and the "
      "commands\n"
      "with their own options. Both are flags alone: `--beam 5`.\n"
      "Commas separate the items of a list, and `\"\"` empties it: `--data.source a.txt,b.txt`.\n\n" +
      options.markdown() + tables_of_students() +
      fmt::format("## {}\n\n{}\n", of_search.title(""), of_search.markdown(""));
  for (const Command& command : commands) page += section_of(command);
  page.pop_back();
  const std::string path = DRAGOMAN_SOURCE_DIR "/docs/options.md";
  if (std::getenv("DRAGOMAN_WRITE_DOCS") != nullptr) write_file(path, {page});
  EXPECT_EQ(read_file(path), page);
}

}  // namespace
}  // namespace dragoman::internal
