// The pages in a browser: tests/web/run.
#include <filesystem>

#include "run_script.h"

namespace dragoman::internal {
namespace {

// One for each file of tests, so that they can run side by side.
class Pages : public testing::TestWithParam<const char*> {};

TEST_P(Pages, InChromium) {
  const std::string program = DRAGOMAN_PROGRAM,
                    folder = std::filesystem::path(program).parent_path().string();
  expect_script_passes(DRAGOMAN_SOURCE_DIR "/tests/web/run " + program + " " + folder + "/tests " +
                       GetParam());
}

INSTANTIATE_TEST_SUITE_P(, Pages,
                         testing::Values("Translate", "Texts", "Refusals", "Files", "Views", "Servers",
                                         "Desk"),
                         [](const auto& page) { return std::string(page.param); });

}  // namespace
}  // namespace dragoman::internal
