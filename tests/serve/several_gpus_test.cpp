// A server's models on two GPUs, which are this host's fibers.
#include "host_gpus/host_gpus.h"
#include "serve/open_translations.h"

namespace dragoman::internal {
namespace {

#if defined(DRAGOMAN_HOST_GPUS)
TEST_F(TranslationsTest, SeveralGpusShareAModelsLines) {
  const HostGpus gpus;
  const auto text_on = [&](const char* devices) {
    TranslationsSettings settings = {
        .translator = {.device = devices, .threads = 1, .batch = 2, .reserves = true}};
    const auto translations = open_translations({"en-fr=" + one_.path}, settings);
    std::string text;
    for (const std::string& first : known_lines())
      for (const std::string& second : known_lines()) text += first + " " + second + "\n";
    return translated(*translations, {.text = text, .from = "en", .to = "fr", .options = short_ones}).text;
  };
  const std::string wanted = text_on("cuda:1");
  const int before[] = {HostGpus::waits(0), HostGpus::waits(1)};
  EXPECT_EQ(text_on("cuda:all"), wanted);
  for (const int gpu : {0, 1}) EXPECT_GT(HostGpus::waits(gpu), before[gpu] + 10) << gpu;
}
#endif

}  // namespace
}  // namespace dragoman::internal
