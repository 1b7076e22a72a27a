// Others' clients against the server: tests/serve/with_clients.
#include <filesystem>

#include "run_script.h"

namespace dragoman::internal {
namespace {

TEST(ClientsTest, WorkUnchanged) {
  const std::filesystem::path program = DRAGOMAN_PROGRAM;
  expect_script_passes(DRAGOMAN_SOURCE_DIR "/tests/serve/with_clients " + program.string() + " " +
                       program.parent_path().string() + "/tests");
}

}  // namespace
}  // namespace dragoman::internal
