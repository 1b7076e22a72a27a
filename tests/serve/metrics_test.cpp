#include "serve/operation/metrics.h"

#include <future>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "search/model_folder.h"
#include "serve/test_server.h"
#include "serve/translations.h"

namespace dragoman::internal {
namespace {

// Of a page, by name with labels.
std::map<std::string, double> values_of(const std::vector<ServedModel>& models) {
  MetricsPage page;
  print_models(page, models);
  std::istringstream lines(page.take());
  std::map<std::string, double> values;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const size_t space = line.rfind(' ');
    EXPECT_TRUE(values.insert({line.substr(0, space), std::stod(line.substr(space))}).second) << line;
  }
  return values;
}

TEST(ModelMetrics, CountWhatWasTranslated) {
  const ModelFolder folder("metrics-model");
  const auto translations = open_translations(
      {"en-fr=" + folder.path}, {.translator = {.threads = 1, .batch = 4, .cache_bytes = 1 << 20}});
  std::promise<void> done;
  translations->translate(
      {.text = "The cat sleeps.", .from = "en", .to = "fr", .options = {{"max-length", 5}}},
      [&](const std::future<TextResult>&) { done.set_value(); });
  done.get_future().wait();
  std::map<std::string, double> values;
  const auto value = [&](const std::string& name) {
    const auto found = values.find("dragoman_" + name + "{model=\"en-fr\"}");
    return found == values.end() ? -1 : found->second;
  };
  EXPECT_TRUE(eventually([&] {  // an answer may come before it is counted
    values = values_of(translations->models());
    return value("batch_sentences") == 0 && value("cache_bytes") > 0;
  }));
  EXPECT_EQ(value("queue_depth"), 0);
  EXPECT_EQ(value("queue_oldest_seconds"), 0);
  EXPECT_EQ(value("batch_size"), 4);
  EXPECT_GE(value("steps_total"), 1);
  EXPECT_GE(value("source_tokens_total"), 1);
  EXPECT_GE(value("target_tokens_total"), 1);
  EXPECT_EQ(value("cache_misses_total"), 1);
  EXPECT_EQ(value("cache_hits_total"), 0);
  EXPECT_EQ(value("merged_total"), 0);
}

TEST(ModelMetrics, ModelsOfEqualNamesHaveTheirFoldersAsLabels) {
  const ModelFolder folder("metrics-names");
  const auto translator = std::make_shared<dragoman::Translator>(folder.path);
  const auto model = [&](const char* name, const char* path) {
    return ServedModel{.name = name, .folder = path, .translator = translator};
  };
  const auto values =
      values_of({model("best", "en-fr/best"), model("best", "fr-en/best"), model("other", "other")});
  for (const char* label : {"en-fr/best", "fr-en/best", "other"})
    EXPECT_TRUE(values.contains(std::string("dragoman_queue_depth{model=\"") + label + "\"}")) << label;
}

TEST(ServeMetricsTest, PairsAreBounded) {
  ServeMetrics metrics;
  for (int i = 0; i < 300; ++i) metrics.translated("en-" + std::to_string(i), 1);
  metrics.translated("en-7", 1);
  MetricsPage page;
  metrics.print(page);
  const std::string text = page.take();
  EXPECT_NE(text.find("dragoman_texts_total{pair=\"en-7\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("dragoman_texts_total{pair=\"other\"} 100\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace dragoman::internal
