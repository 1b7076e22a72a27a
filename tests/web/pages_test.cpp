// The pages in a browser: tests/web/run.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

#include "run_script.h"

namespace dragoman::internal {
namespace {

// "Texts" for test_texts.py, whose class has this name. One test for each file, so that they can run side by side.
std::vector<std::string> files_of_tests() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(DRAGOMAN_SOURCE_DIR "/tests/web")) {
    std::string name = file.path().stem().string();
    if (!name.starts_with("test_") || file.path().extension() != ".py") continue;
    name.erase(0, 5);
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

class Pages : public testing::TestWithParam<std::string> {};

TEST_P(Pages, InChromium) {
  const std::string program = DRAGOMAN_PROGRAM,
                    folder = std::filesystem::path(program).parent_path().string();
  expect_script_passes(DRAGOMAN_SOURCE_DIR "/tests/web/run " + program + " " + folder + "/tests " +
                       GetParam());
}

INSTANTIATE_TEST_SUITE_P(, Pages, testing::ValuesIn(files_of_tests()),
                         [](const auto& page) { return page.param; });

}  // namespace
}  // namespace dragoman::internal
