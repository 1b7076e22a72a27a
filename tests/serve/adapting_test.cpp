// When a server adapts its models, by which command, and what it says about it.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/message_of.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "dragoman/models.h"
#include "memory/builder.h"
#include "serve/adapting/adapter.h"
#include "serve/memories/store.h"
#include "serve/open_translations.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

const char* const scores =
    R"("before":{"segments":8.0,"general":41.25},"after":{"segments":12.5,"general":41.0})";

std::string result_line(const std::string& outcome) {
  return R"({"outcome":")" + outcome + R"(",)" + scores + "}\n";
}

TEST(AdaptCommandTest, LearnsAllSegmentsFromTheBase) {
  ServeSettings settings;
  settings.threads = 5;
  settings.adapt_minutes = 2.5;
  const AdaptJob job = {.label = "en-fr",
                        .base = "models/demo",
                        .out = "models/demo.adapted",
                        .from = "en",
                        .to = "fr",
                        .memories = {"memories/one", "memories/two"},
                        .suggestions = "-users.jsonl"};
  EXPECT_EQ(adapt_command("/bin/dragoman", job, settings),
            (std::vector<std::string>{
                "/bin/dragoman", "adapt", "--model=models/demo", "--out=models/demo.adapted", "--from=en",
                "--to=fr", "--device=cpu", "--threads=2", "--max-minutes=2.5", "--format=json",
                "--memory=memories/one", "--memory=memories/two", "--", "-users.jsonl"}));
  settings.threads = 1;
  const auto words = adapt_command("/bin/dragoman", job, settings);
  EXPECT_NE(std::ranges::find(words, "--threads=1"), words.end());
}

TEST(AdaptOutcomeTest, FollowsFromHowTheCommandEnds) {
  const auto of = [](int code, const std::string& output, const std::string& line = "",
                     bool stopped = false) {
    return outcome_of("models/demo", {code, output}, line, stopped);
  };
  const AdaptOutcome better = of(0, result_line("adapted"));
  EXPECT_EQ(better.name, "adapted");
  EXPECT_EQ(better.message,
            "models/demo was adapted: it has BLEU 12.5 (8.0 before) on held-out segments, 41.0 (41.2 before) "
            "on general text");
  EXPECT_EQ(better.figures["after"]["segments"], 12.5);
  EXPECT_EQ(of(1, result_line("no better"), "dragoman: the adapted model is no better").name, "no better");
  EXPECT_EQ(of(1, R"({"outcome":"too few","message":"3 of them"})").message,
            "models/demo is not adapted yet: 3 of them");
  EXPECT_EQ(of(2, "", "dragoman: it cannot").message, "models/demo cannot be adapted: it cannot");
  const AdaptOutcome full = of(1, "", "dragoman: no space");
  EXPECT_EQ(full.message, "adapting models/demo failed, and is tried again: no space");
  EXPECT_FALSE(full.is_settled());
  EXPECT_NE(of(139, "", "stage tuned").message.find("ended by signal 11"), std::string::npos);
  EXPECT_EQ(of(143, "", "dragoman: stopped", true).name, "stopped");
  EXPECT_EQ(of(0, "{").name, "failed");
  EXPECT_EQ(of(0, R"({"outcome":"adapted"})").name, "failed");
  for (const char* settled : {"adapted", "up to date", "no better"})
    EXPECT_TRUE(of(0, result_line(settled)).is_settled()) << settled;
}

// A program that stands for dragoman, and notes each call.
class AdapterTest : public testing::Test {
 protected:
  AdapterTest() {
    settings_.adapt_every = 1e-5;  // hours: 36 ms
    job_ = {.label = "demo",
            .base = folder_.path("base"),
            .out = folder_.path("base.adapted"),
            .from = "en",
            .to = "fr",
            .memories = {},
            .suggestions = folder_.write("users.jsonl", "")};
    make_folder(job_.base);
    folder_.write("base/config.json", "{}");
  }

  std::string program(const std::string& script) const {
    const std::string path =
        folder_.write("program", "#!/bin/sh\necho \"$2\" >> " + calls() + "\n" + script + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  std::string calls() const { return folder_.path("calls"); }
  ptrdiff_t count() const {
    if (!std::filesystem::exists(calls())) return 0;
    const std::string text = read_file(calls());
    return std::ranges::count(text, '\n');
  }
  static std::string page_of(const Adapter& adapter) {
    MetricsPage page;
    adapter.print(page);
    return page.take();
  }

  const TemporaryFolder folder_;
  ServeSettings settings_ = test_settings();
  AdaptJob job_;
};

TEST_F(AdapterTest, AdaptsAgainWhereSomethingWasAdded) {
  Adapter adapter(settings_, program("echo '" + std::string(result_line("no better")) + "'; exit 1"));
  adapter.start({job_});
  ASSERT_TRUE(eventually([&] { return count() == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(count(), 1);
  folder_.write("users.jsonl", "{}\n");
  ASSERT_TRUE(eventually([&] { return count() == 2; }));
  folder_.write("base/config.json", "{\"other\":1}");
  ASSERT_TRUE(eventually([&] { return count() == 3; }));
  EXPECT_TRUE(read_file(calls()).starts_with("--model=" + job_.base + "\n"));
  ASSERT_TRUE(eventually([&] {
    return page_of(adapter).find("adaptations_total{model=\"demo\",outcome=\"no better\"} 3") !=
           std::string::npos;
  })) << page_of(adapter);
}

TEST_F(AdapterTest, TriesAgainWhatHasFailed) {
  Adapter adapter(settings_, program("echo 'dragoman: no space' >&2; exit 1"));
  adapter.start({job_});
  EXPECT_TRUE(eventually([&] { return count() >= 3; }));
  EXPECT_NE(page_of(adapter).find("outcome=\"failed\"}"), std::string::npos);
}

TEST_F(AdapterTest, EndsTheProgramWithTheServer) {
  Adapter adapter(settings_, program("exec sleep 100"));
  adapter.start({job_});
  ASSERT_TRUE(eventually([&] { return count() == 1; }));
  EXPECT_NE(page_of(adapter).find("dragoman_adapting 1\n"), std::string::npos) << page_of(adapter);
  adapter.stop();
  EXPECT_TRUE(
      eventually([&] { return page_of(adapter).find("outcome=\"stopped\"} 1") != std::string::npos; }));
}

TEST_F(AdapterTest, SaysInTheLogWhatItDoes) {
  settings_.log = RequestLogFormat::json;
  set_log_level(LogLevel::info);
  testing::internal::CaptureStderr();
  {
    Adapter adapter(
        settings_,
        program("echo 'stage tuned' >&2; echo 'epoch 1' >&2; echo 'the model is there' >&2; echo '" +
                std::string(result_line("adapted")) + "'"));
    adapter.start({job_});
    EXPECT_TRUE(
        eventually([&] { return page_of(adapter).find("outcome=\"adapted\"} 1") != std::string::npos; }));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("adapting " + job_.base + ": stage tuned\n"), std::string::npos) << log;
  EXPECT_EQ(log.find("epoch"), std::string::npos) << log;
  const std::string last = log.substr(log.rfind('\n', log.size() - 2) + 1);
  const json line = json::parse(last);
  EXPECT_EQ(line["adapting"], job_.base);
  EXPECT_EQ(line["event"], "adapted");
  EXPECT_EQ(line["before"]["general"], 41.25);
}

class AdaptJobsTest : public TranslationsTest {
 protected:
  std::vector<AdaptJob> jobs(const std::vector<std::string>& models, const ServeSettings& settings) {
    const auto translations = open(models);
    std::vector<AdaptJob> jobs;
    warnings_.clear();
    set_log_level(LogLevel::warning);
    set_log_sink([&](LogLevel, const std::string& line) { warnings_ += line + "\n"; });
    jobs = adapt_jobs(*translations, MemoryStore(settings.memories), settings);
    set_log_sink({});
    set_log_level(LogLevel::off);
    return jobs;
  }

  const TemporaryFolder folder_;
  std::string warnings_;
};

TEST_F(AdaptJobsTest, EachModelLearnsWhatIsOfItsLanguages) {
  for (const auto& [name, from, to] :
       {std::tuple("one", "en", "fr"), {"two", "en-GB", "fr"}, {"three", "de", "en"}}) {
    MemoryBuilder builder(folder_.path(name), from, to);
    builder.add({"The cat sleeps.", "Le chat dort."});
    builder.finish();
  }
  ServeSettings settings;
  settings.memories = {folder_.path("one"), folder_.path("two"), folder_.path("three")};
  const auto some = jobs({"en-fr=" + one_.path, "fr-en=" + other_.path}, settings);
  ASSERT_EQ(some.size(), 1u) << warnings_;
  EXPECT_EQ(some[0].label, "en-fr");
  EXPECT_EQ(some[0].out, one_.path + ".adapted");
  EXPECT_EQ(some[0].from, "en");
  EXPECT_EQ(some[0].to, "fr");
  EXPECT_EQ(some[0].memories, (std::vector<std::string>{folder_.path("one"), folder_.path("two")}));
  EXPECT_EQ(warnings_, other_.path + " is not adapted: no memory has segments from fr to en\n");
}

TEST_F(AdaptJobsTest, WhatCannotBeAdaptedIsNamedOnce) {
  const ModelFolder language_model("served-language-model", 40, true, {.size = 45, .shared = true}, {},
                                   DecoderSelfAttention::attention, ModelKind::language_model);
  dragoman::quantize(one_.path, dragoman::Precision::int8, folder_.path("int8"));
  ServeSettings settings;
  settings.suggestions = "users.jsonl";
  settings.adapted = folder_.path("adapted");
  const auto some =
      jobs({language_model.path, "en-fr=" + folder_.path("int8"), "fr-en=" + other_.path}, settings);
  ASSERT_EQ(some.size(), 1u) << warnings_;
  EXPECT_EQ(some[0].base, other_.path);
  EXPECT_EQ(some[0].out, folder_.path("adapted/served-model-two.adapted"));
  EXPECT_NE(warnings_.find("it is a language model"), std::string::npos) << warnings_;
  EXPECT_NE(warnings_.find("low precision"), std::string::npos) << warnings_;
}

TEST(AdaptSettingsTest, SegmentsThatUsersConfirmAreNeeded) {
  ServeSettings settings;
  settings.adapted = "somewhere";
  EXPECT_NE(message_of([&] { validate(settings); }).find("--adapt-every"), std::string::npos);
  settings.adapt_every = 1;
  EXPECT_NE(message_of([&] { validate(settings); }).find("--suggestions FILE"), std::string::npos);
  settings.suggestions = "users.txt";
  EXPECT_NE(message_of([&] { validate(settings); }).find("ends in .jsonl"), std::string::npos);
  settings.suggestions = "users.jsonl";
  validate(settings);
}

}  // namespace
}  // namespace dragoman::internal
