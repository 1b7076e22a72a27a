// Requests of text that mix all options, and what is expected of their results.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/lines.h"
#include "search/model_folder.h"
#include "search/random_requests.h"
#include "search/stepped.h"

namespace dragoman::internal {

using Results = std::map<uint64_t, TranslationResult>;

inline const std::vector<std::string> texts = {"The cat sleeps.",
                                               "",
                                               "Where is it?",
                                               "b\xff"
                                               "d",
                                               "dog dog dog",
                                               "It is cold. Where is the station? We go home. A dog barks.",
                                               "A dog barks at the cat.",
                                               "Où est-il ?",
                                               "   ",
                                               "The dog, and the cat."};

inline Results run_all(SteppedTranslator& translator) {
  Results results;
  while (translator.busy()) {
    for (TranslationResult& result : translator.step()) {
      EXPECT_FALSE(results.contains(result.id));
      results.emplace(result.id, std::move(result));
    }
  }
  return results;
}

inline void expect_same(const TranslationResult& got, const TranslationResult& wanted) {
  EXPECT_EQ(got.status, wanted.status);
  EXPECT_EQ(got.line.source, wanted.line.source);
  EXPECT_EQ(got.line.pieces.size(), wanted.line.pieces.size());
  for (const auto flag : {&TranslatedLine::invalid, &TranslatedLine::cut, &TranslatedLine::unknown,
                          &TranslatedLine::repeats, &TranslatedLine::terms_missed})
    EXPECT_EQ(got.line.*flag, wanted.line.*flag);
  ASSERT_EQ(got.line.translations.size(), wanted.line.translations.size());
  for (size_t i = 0; i < got.line.translations.size(); ++i) {
    const Translation &a = got.line.translations[i], &b = wanted.line.translations[i];
    EXPECT_EQ(a.text, b.text);
    EXPECT_EQ(a.score, b.score);
    EXPECT_TRUE(a.alignment == b.alignment);
  }
}

class TranslatorTest : public testing::Test {
 protected:
  std::vector<TranslationRequest> requests(size_t count, uint64_t seed) {
    RandomRequests random(seed, 40);
    std::vector<TranslationRequest> all;
    for (size_t i = 0; i < count; ++i) {
      TranslationRequest request = {.text = texts[static_cast<size_t>(random.below(std::ssize(texts)))],
                                    .options = random.options()};
      if (random.one_in(3)) request.prefix = "A dog";
      request.options.alignment = random.one_in(3);
      request.options.replace_unknown = random.one_in(3);
      if (!request.options.sample && random.one_in(3)) request.options.coverage_penalty = 0.5;
      if (random.one_in(3) && !request.text.empty())
        request.terms = {{{0, 1}, {"barks", "Katze"}}, {{1, 2}, {"we go home"}}, {{2, 3}, {"ξ"}}};
      if (random.one_in(5)) request.options.max_length = 60, request.options.max_length_ratio = 0;
      all.push_back(std::move(request));
    }
    return all;
  }

  const ModelFolder folder_{"translator", 16, true, {.size = 300, .shared = true, .byte_fallback = true}};
  SavedModel model_{folder_.path, kernels_for(nullptr), 2};
};

}  // namespace dragoman::internal
