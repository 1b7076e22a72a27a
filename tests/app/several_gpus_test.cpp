// The program and the library on two GPUs, which are this host's fibers: they share the work and find what one finds;
// and a batch that nobody chose is as large as a GPU's memory holds well.
#include "app/translating_commands.h"
#include "dragoman/translator.h"
#include "host_gpus/host_gpus.h"

namespace dragoman::internal {
namespace {

#if defined(DRAGOMAN_HOST_GPUS)
class SeveralGpus : public TranslatingCommands {
 protected:
  static std::vector<std::string> many_lines() {
    std::vector<std::string> lines;
    for (const std::string& first : known_lines())
      for (const std::string& second : known_lines()) lines.push_back(first + " " + second);
    return lines;
  }
  static std::string text() {
    std::string all;
    for (const std::string& line : many_lines()) all += line + "\n";
    return all;
  }
  dragoman::ModelInfo info(dragoman::TranslatorSettings settings) const {
    return dragoman::Translator(folder_.path, settings).info();
  }

  HostGpus gpus_;
};

TEST_F(SeveralGpus, TranslateWhatOneTranslates) {
  const std::string wanted = translate(text(), "--device cuda:1 --threads 1");
  for (const std::string devices : {"cuda:0,cuda:1", "cuda:1,cuda:0", "cuda:all"})
    EXPECT_EQ(translate(text(), "--threads 2 --batch 2 --device " + devices), wanted) << devices;
}

TEST_F(SeveralGpus, ShareTheWorkOfALibrarysTranslator) {
  const dragoman::Options options = {{"beam", 2}, {"max-length", 12}};
  const auto texts_on = [&](const char* device) {
    dragoman::Translator translator(folder_.path, {.device = device, .threads = 1, .batch = 2});
    std::vector<std::string> texts;
    for (const dragoman::Translation& done : translator.translate(many_lines(), options))
      texts.push_back(done.text());
    return texts;
  };
  const auto wanted = texts_on("cuda:0");
  const int before[] = {HostGpus::waits(0), HostGpus::waits(1)};
  EXPECT_EQ(texts_on("cuda:all"), wanted);
  for (const int gpu : {0, 1}) EXPECT_GT(HostGpus::waits(gpu), before[gpu] + 10) << gpu;
  const dragoman::ModelInfo both = info({.device = "cuda:0,cuda:1", .threads = 1});
  EXPECT_EQ(both.instruction_set, "2 times Host, driver 13.1, cuBLASLt 13.1.2");
  EXPECT_EQ(both.workers, 2);
}

TEST_F(SeveralGpus, AreRefusedWhereOneDeviceIsNeeded) {
  for (const std::string command : {"score --model m --source a --target b", "inspect --model m", "bench",
                                    "train " DRAGOMAN_SOURCE_DIR "/recipes/copy.toml"}) {
    run(command + " --device cuda:0,cuda:1", "", 2);
    EXPECT_EQ(std::ranges::count(errors_, '\n'), 1) << errors_;
    EXPECT_NE(errors_.find("auto, cpu, cuda or cuda:N"), errors_.npos) << errors_;
  }
  run("translate --model " + folder_.path + " --device cuda:0,cpu", "", 2);
  run("translate --model " + folder_.path + " --device cuda:0,cuda:0", "", 1);
  EXPECT_NE(errors_.find("names cuda:0 twice"), errors_.npos) << errors_;
}

TEST_F(SeveralGpus, ABatchThatNobodyChoseIsAsLargeAsMemoryHoldsWell) {
  EXPECT_EQ(info({.device = "cpu"}).batch, 32);
  EXPECT_EQ(info({.device = "cpu", .batch = 5}).batch, 5);
  const auto on_gpu = [&](const char* free, int workers, int translators = 1) {
    gpus_.set_free_memory(free);
    return info({.device = "cuda:all", .workers = workers, .translators = translators}).batch;
  };
  const int64_t all = on_gpu("40000000", 1);
  EXPECT_GT(all, 8);
  EXPECT_LT(all, 1024);
  EXPECT_NEAR(on_gpu("80000000", 1), 2 * all, 1);
  EXPECT_NEAR(on_gpu("80000000", 2), all, 1) << "each of two batches on a GPU";
  EXPECT_NEAR(on_gpu("80000000", 1, 2), all, 1) << "each of two models on a GPU";
  EXPECT_EQ(on_gpu("1", 1), 1);
  EXPECT_EQ(on_gpu("80000000000", 1), 1024) << "more would not help";
  EXPECT_EQ(translate("The cat sleeps.\n", "--device cuda --batch 0"),
            translate("The cat sleeps.\n", "--device cuda --batch 3"));
}
#endif

}  // namespace
}  // namespace dragoman::internal
