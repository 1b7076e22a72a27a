// What `dragoman explain` is asked, and its answer: what a model computes for a pair of sentences, step by step, with
// its numbers. Steps have sections, and these have tables, each under the formula that it follows from.
//
// JSON has every number; text has the first columns of vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/kernels.h"

namespace dragoman::internal {

// What the encoder and the decoder read, and what the decoder should predict after each token that it reads. A language
// model has no source.
struct ExplainedPair {
  std::vector<int32_t> source, read, expected;
  size_t given = 0;  // the first of `expected`, which are forced and count in no loss
  std::function<std::string(int32_t)> source_piece, target_piece;
};

struct ExplainOptions {
  std::string step = "all";
  int64_t layer = 1, head = 1;  // counted from 1
  std::string weight;           // a parameter; empty: one of the layer
  Smoothing smoothing;
};

// What text shows as – and JSON as null: a number that does not exist.
struct Nothing {};
using Cell = std::variant<double, int64_t, std::string, Nothing>;

using Labels = std::vector<std::string>;

struct Table {
  std::string name;  // in JSON
  std::string formula;
  Labels rows, columns;  // no columns: the elements of vectors, which are numbered
  std::vector<std::vector<Cell>> cells;
  int digits = 4;  // of text, behind the point
};

struct StepSection {
  std::string name, title;
  std::vector<std::string> notes = {};
  std::vector<Table> tables = {};
};

struct Step {
  std::string name;
  std::vector<StepSection> sections;
};

struct Explanation {
  std::vector<std::string> notes = {};
  std::vector<Step> steps = {};
};

// {"notes": [...], "steps": {NAME: {SECTION: {"title", "notes", TABLE: {"formula", "rows", "columns", "values"}}}}};
// −∞ is null, and `columns` is missing where the elements are numbered.
nlohmann::ordered_json to_json(const Explanation& explanation);

struct TextLayout {
  int64_t columns = 8;  // of a vector that are shown; 0: all
  int64_t width = 100;  // of a line: wider tables are broken
};
std::string to_text(const Explanation& explanation, const TextLayout& layout);

}  // namespace dragoman::internal
