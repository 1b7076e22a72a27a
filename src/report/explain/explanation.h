// An explanation: what a model computes for a pair of sentences, step by step, with its numbers. Steps have sections,
// and these have tables, each under the formula that it follows from.
//
// As JSON it has every number; as text vectors are cut to their first columns.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace dragoman::internal {

// What text shows as n/a and JSON as null: a number that does not exist.
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
