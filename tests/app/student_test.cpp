// dragoman student: mistakes that would show after days are reported at once.
#include <filesystem>

#include "app/translating_commands.h"

namespace dragoman::internal {
namespace {

TEST_F(TranslatingCommands, StudentReadsItsTestSetFirst) {
  const std::string recipe = write("recipe.toml", R"([student]
teacher = [")" DRAGOMAN_SOURCE_DIR R"(/docs/model"]
test_source = [")" + file("test") + R"("]
test_target = [")" + file("test") + R"("]
[data]
tsv = [")" + write("corpus", "Come here.\tViens ici.\n") +
                                                      R"("]
hold_out = 1
[training]
max_steps = 1
)");
  const std::string command = "student " + recipe + " --out " + file("student");
  run(command, "", 1);
  EXPECT_NE(errors_.find(file("test")), std::string::npos) << errors_;
  write("test", "\n");
  run(command, "", 1);
  EXPECT_NE(errors_.find("the test set is empty"), std::string::npos) << errors_;
  EXPECT_FALSE(std::filesystem::exists(file("student")));
}

}  // namespace
}  // namespace dragoman::internal
