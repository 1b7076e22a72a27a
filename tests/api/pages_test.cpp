// Pages by the library: self-contained, and with what they are about.
#include "dragoman/pages.h"

#include <gtest/gtest.h>

#include "api/message_of.h"
#include "dragoman/training.h"
#include "dragoman/translator.h"
#include "search/model_folder.h"
#include "temporary_folder.h"

namespace dragoman {
namespace {

TEST(Pages, InspectionsAreTheirData) {
  const internal::ModelFolder folder("pages-model");
  Translator translator(folder.path, {.threads = 1});
  const std::string line = internal::known_lines().front(), one = translator.inspect(line);
  const std::string page = inspection_page({one, one}, "a </script> model");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find(line), std::string::npos);
  EXPECT_EQ(page.find("</script> model"), std::string::npos);
  EXPECT_EQ(message_of([] { inspection_page({"{"}); }),
            "an inspection is not JSON: give what Translator::inspect() returned");
  EXPECT_EQ(message_of([] { inspection_page({}); }), "a page needs at least one inspection");
}

TEST(Pages, TrainingsHaveTheirCurves) {
  const internal::TemporaryFolder folder;
  train({.recipe_text =
             "[data]\nsynthetic = \"copy\"\nbatches = 2\nvalid_batches = 1\nsentences = 4\n"
             "[model]\nencoder_layers = 1\ndecoder_layers = 1\nd_model = 16\nheads = 2\nd_ff = 32\n",
         .options = {{"training.max_steps", 4}, {"training.threads", 1}},
         .out = folder.path("run-of-pages")});
  const std::string page = training_page({folder.path("run-of-pages")});
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("run-of-pages"), std::string::npos);
  EXPECT_NE(message_of([&] { training_page({folder.path("none")}); }).find("none"), std::string::npos);
  EXPECT_EQ(message_of([] { training_page({}); }), "a page needs at least one training run");
}

}  // namespace
}  // namespace dragoman
