// How a student compares with its teacher: translations of a test set, their scores, speed and size.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/corpus.h"

namespace dragoman::internal {

struct ComparedModel {
  std::string name;                  // "teacher", "student, int8"
  std::vector<std::string> folders;  // several are an ensemble
};

struct ComparisonSettings {
  std::vector<TextPair> test;
  std::string from = {}, to = {};  // languages, as upper case and models of many languages need them
  std::string device = "auto";
  int threads = 0;
};

// One object each: scores on the test set and its variants, megabytes, words a second, seconds to start; and some
// translations.
nlohmann::ordered_json compare(const std::vector<ComparedModel>& models, const ComparisonSettings& settings);

// BLEU of the model's translations of the test set.
double bleu_of(const std::string& folder, const ComparisonSettings& settings);

// As a table for a terminal.
std::string comparison_table(const nlohmann::ordered_json& comparison);

}  // namespace dragoman::internal
