// Requests of text: each with its own options, its result and its progress by id.
#include "search/stepped.h"
#include "search/text_requests.h"

namespace dragoman::internal {
namespace {

TEST_F(TranslatorTest, EachRequestGetsWhatItGetsAlone) {
  const auto all = requests(150, 1);
  for (const int searches : {1, 3}) {
    SteppedTranslator translator(model_, {.sentences = 7, .searches = searches});
    for (size_t i = 0; i < all.size(); ++i) translator.add(i, all[i]);
    const Results results = run_all(translator);
    ASSERT_EQ(results.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(i);
      SteppedTranslator alone(model_, {.sentences = 1});
      alone.add(i, all[i]);
      expect_same(results.at(i), run_all(alone).at(i));
    }
  }
}

// Also of a line in several segments, of which some are done and others wait.
TEST_F(TranslatorTest, OneIsCancelledOrExpiresByItself) {
  auto all = requests(30, 2);
  all[5].text = all[6].text = texts[5];
  const Claim late = {.deadline = std::chrono::steady_clock::now()};
  SteppedTranslator whole(model_, {.sentences = 30});
  for (size_t i = 0; i < all.size(); ++i) {
    if (i != 6) whole.add(i, all[i]);
  }
  const Results wanted = run_all(whole);
  for (const int searches : {1, 3}) {
    for (int step = 0; step < 30; step += 3) {
      SteppedTranslator translator(model_, {.sentences = 4, .searches = searches});
      for (size_t i = 0; i < all.size(); ++i) translator.add(i, all[i], i == 6 ? late : Claim{});
      Results results;
      for (int i = 0; translator.busy(); ++i) {
        if (i == step) translator.cancel(5), translator.cancel(5), translator.cancel(1000);
        for (TranslationResult& result : translator.step()) results.emplace(result.id, std::move(result));
      }
      ASSERT_EQ(results.size(), all.size());
      EXPECT_EQ(results.at(6).status, SearchStatus::expired);
      EXPECT_TRUE(step > 0 || results.at(5).status == SearchStatus::cancelled);
      for (const auto& [id, result] : wanted) {
        if (id != 5 || results.at(5).status == SearchStatus::finished) expect_same(results.at(id), result);
      }
      EXPECT_TRUE(translator.frees_all_rows());
    }
  }
}

// What is final is whole characters, grows, and begins the result.
TEST_F(TranslatorTest, WhatIsFinalOfATextStays) {
  const auto all = requests(120, 3);
  for (const int searches : {1, 3}) {
    SteppedTranslator translator(model_, {.sentences = 10, .searches = searches});
    for (size_t i = 0; i < all.size(); ++i) translator.add(i, all[i], {}, /*progress=*/true);
    std::map<uint64_t, std::string> final_text;
    size_t reports = 0, finals = 0, repeats = 0;
    while (translator.busy()) {
      for (const TranslationResult& result : translator.step()) {
        const std::string& text = result.line.translations[0].text;
        EXPECT_TRUE(text.starts_with(final_text[result.id])) << text << "\n" << final_text[result.id];
        repeats += result.line.repeats;
      }
      for (const TranslationProgress& progress : translator.progress()) {
        std::string& known = final_text[progress.id];
        const std::string now = progress.text.substr(0, progress.final_bytes);
        ASSERT_LE(progress.final_bytes, progress.text.size());
        EXPECT_TRUE(is_text(progress.text) && is_text(now));
        EXPECT_TRUE(now.starts_with(known)) << now << "\n" << known;
        known = now;
        ++reports, finals += !now.empty();
      }
    }
    EXPECT_GT(finals, reports / 4);
    EXPECT_GT(repeats, 3U) << "some are translated again";
  }
}

// Byte fallback: an é comes when its second byte is there.
TEST_F(TranslatorTest, APartialTextHasWholeCharacters) {
  const Vocabulary& target = *model_.vocabularies.target;
  const std::vector<int32_t> tokens = {target.id("<0x41>"), target.id("<0xC3>"), target.id("<0xA9>"),
                                       target.id("<0xE2>"), target.id("<0x82>"), target.id("<0xAC>")};
  SearchedLine line = {.source = "a", .segments = {{}}, .hypotheses = {{}}};
  const auto so_far = [&](size_t shown, size_t fixed) {
    FinishedText none;
    return partial_text(line,
                        {{.tokens = {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(shown)},
                          .final_tokens = fixed}},
                        target, {}, none);
  };
  const std::vector<std::string> wanted = {"", "A", "A", "Aé", "Aé", "Aé", "Aé€"};
  for (size_t shown = 0; shown <= tokens.size(); ++shown) {
    EXPECT_EQ(so_far(shown, 0).text, wanted[shown]);
    EXPECT_EQ(so_far(shown, 0).final_bytes, 0U);
    EXPECT_EQ(so_far(tokens.size(), shown).final_bytes, wanted[shown].size());
  }
}

TEST(FailingTranslator, NamesTheModel) {
  const ModelFolder folder("failing", 40, true, {.size = 45, .shared = true}, VocabularyConfig{.size = 45});
  SavedModel model(folder.path, kernels_for(nullptr), 1, RequestedPrecision::int8);
  const auto sound = model.encode_source("The cat sleeps."), other = model.encode_source("Where is it?");
  const int32_t damaged =
      *std::ranges::find_if(other, [&](int32_t id) { return !std::ranges::count(sound, id); });
  const_cast<float*>(model.model.source_embedding.tokens.storage().low_precision.scales)[damaged] =
      std::numeric_limits<float>::quiet_NaN();
  SteppedTranslator translator(model);
  translator.add(0, {.text = "The cat sleeps.", .options = {.max_length = 9}});
  translator.add(1, {.text = "Where is it?", .options = {.max_length = 9}});
  const Results results = run_all(translator);
  EXPECT_EQ(results.at(0).status, SearchStatus::finished);
  EXPECT_EQ(results.at(1).status, SearchStatus::failed);
  EXPECT_TRUE(results.at(1).error.starts_with(folder.path)) << results.at(1).error;
}

TEST_F(TranslatorTest, OptionsThatTheModelCannotServeAreRefused) {
  SteppedTranslator translator(model_);
  translator.add(0, {.text = "a", .options = {.shortlist = true}});
  translator.add(1, {.text = "a", .options = {.alignment = true, .alignment_layer = 99}});
  translator.add(2, {.text = "a", .options = {.max_length = 9}});
  const Results results = run_all(translator);
  EXPECT_NE(results.at(0).error.find("shortlist"), std::string::npos) << results.at(0).error;
  EXPECT_NE(results.at(1).error.find("layer"), std::string::npos) << results.at(1).error;
  EXPECT_EQ(results.at(2).status, SearchStatus::finished);
}

}  // namespace
}  // namespace dragoman::internal
