// What a folder computes, beside the reference.json of the program that its model comes from.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "search/saved_model.h"
#include "search/score.h"
#include "testing.h"

namespace dragoman::internal {

// The log-probabilities of each line's targets, which end with the end mark, on every instruction set.
inline void expect_same_log_probabilities(const std::string& folder, const nlohmann::json& reference) {
  for (const Kernels* kernels : every_instruction_set()) {
    SavedModel model(folder, *kernels, 1);
    const SpecialTokens& special = model.vocabularies.target->special();
    for (const nlohmann::json& line : reference) {
      const auto ids = line["ids"].get<std::vector<int32_t>>();
      for (const nlohmann::json& target : line["targets"]) {
        auto words = target["ids"].get<std::vector<int32_t>>();
        ASSERT_EQ(words.back(), special.end);
        words.pop_back();
        PackedSide sources, targets;
        sources.add(ids.data(), ids.data() + ids.size());
        targets.add(words.data(), words.data() + words.size());
        const auto log_p = score_pairs(model.model, sources, targets, special.start, special.end)[0];
        ASSERT_EQ(log_p.size(), target["log_probabilities"].size());
        for (size_t i = 0; i < log_p.size(); ++i)
          EXPECT_NEAR(log_p[i], target["log_probabilities"][i].get<double>(), 1e-4)
              << line["source"] << " " << i;
      }
    }
  }
}

}  // namespace dragoman::internal
