#include "report/explanation.h"

#include <cmath>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

ordered_json cell_json(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Nothing>)
          return nullptr;
        else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>)
          return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
        else
          return value;
      },
      cell);
}

ordered_json table_json(const Table& table) {
  ordered_json values = ordered_json::array();
  for (const std::vector<Cell>& row : table.cells) {
    ordered_json of_row = ordered_json::array();
    for (const Cell& cell : row) of_row.push_back(cell_json(cell));
    values.push_back(std::move(of_row));
  }
  ordered_json json = {{"formula", table.formula}, {"rows", table.rows}};
  if (!table.columns.empty()) json["columns"] = table.columns;
  json["values"] = std::move(values);
  return json;
}

}  // namespace

ordered_json to_json(const Explanation& explanation) {
  ordered_json steps = ordered_json::object();
  for (const Step& step : explanation.steps) {
    ordered_json sections = ordered_json::object();
    for (const StepSection& section : step.sections) {
      ordered_json& json = sections[section.name] = {{"title", section.title}, {"notes", section.notes}};
      for (const Table& table : section.tables) json[table.name] = table_json(table);
    }
    steps[step.name] = std::move(sections);
  }
  return {{"notes", explanation.notes}, {"steps", std::move(steps)}};
}

}  // namespace dragoman::internal
