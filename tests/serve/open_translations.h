// Translations over two small models: the fixture of the tests of translating and of reloading.
#pragma once

#include <future>

#include <gtest/gtest.h>

#include "search/model_folder.h"
#include "serve/test_server.h"
#include "serve/translations.h"

namespace dragoman::internal {

inline TextResult translated(Translations& translations, TextWork work) {
  std::promise<TextResult> done;
  translations.translate(std::move(work), [&](std::future<TextResult> result) {
    try {
      done.set_value(result.get());
    } catch (...) {
      done.set_exception(std::current_exception());
    }
  });
  return done.get_future().get();
}

class TranslationsTest : public testing::Test {
 protected:
  static TranslationsSettings settings() {
    return {.translator = {.threads = 1, .batch = 4, .cache_bytes = 1 << 20}};
  }

  std::unique_ptr<Translations> open(std::vector<std::string> models) {
    return open_translations(models, settings());
  }
  dragoman::Translator alone(const ModelFolder& folder) {
    return dragoman::Translator(folder.path, settings().translator);
  }

  const dragoman::Options short_ones = {{"max-length", 12}, {"keep-source", false}};
  ModelFolder one_{"served-model-one"}, other_{"served-model-two", 40, true, {.size = 40, .shared = true}};
};

}  // namespace dragoman::internal
