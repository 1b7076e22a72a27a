// An explanation on a terminal: aligned tables, broken where they are wider than a line.
#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "report/explanation.h"
#include "text/columns.h"

namespace dragoman::internal {
namespace {

constexpr int64_t widest_label = 14, space_between = 2;
constexpr int64_t element_width = 8;  // of vectors, so that their tables line up
constexpr const char* indent = "  ";

std::string padded_left(const std::string& text, int64_t width) {
  return std::string(static_cast<size_t>(std::max<int64_t>(width - columns_of(text), 0)), ' ') + text;
}

// Zero has no sign, even if it was rounded from below.
std::string number_on_page(double value, int digits) {
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (text[0] == '-' && text.find_first_not_of("-0.") == text.npos) text.erase(0, 1);
  return text;
}

std::string cell_text(const Cell& cell, int digits) {
  if (const auto* number = std::get_if<double>(&cell)) return number_on_page(*number, digits);
  if (const auto* whole = std::get_if<int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* text = std::get_if<std::string>(&cell)) return cut_to_columns(*text, widest_label);
  return "–";
}

// A column as it is printed: its label and below it its cells.
struct PrintedColumn {
  std::string label;
  std::vector<std::string> cells;
  int64_t width;
};

PrintedColumn printed(std::string label, const Table& table, size_t column) {
  PrintedColumn result = {.label = cut_to_columns(label, widest_label), .cells = {}, .width = 0};
  for (const std::vector<Cell>& row : table.cells)
    result.cells.push_back(column < row.size() ? cell_text(row[column], table.digits) : "");
  result.width = columns_of(result.label);
  for (const std::string& cell : result.cells) result.width = std::max(result.width, columns_of(cell));
  return result;
}

// All columns, or of vectors the first ones and a mark that there are more.
std::vector<PrintedColumn> printed_columns(const Table& table, const TextLayout& layout) {
  std::vector<PrintedColumn> columns;
  for (size_t c = 0; c < table.columns.size(); ++c) columns.push_back(printed(table.columns[c], table, c));
  if (!table.columns.empty() || table.cells.empty()) return columns;
  const size_t all = table.cells.front().size();
  const size_t shown = layout.columns > 0 ? std::min(all, static_cast<size_t>(layout.columns)) : all;
  for (size_t c = 0; c < shown; ++c) {
    columns.push_back(printed(fmt::format("[{}]", c), table, c));
    columns.back().width = std::max(columns.back().width, element_width);
  }
  if (shown < all) columns.push_back({"", std::vector<std::string>(table.cells.size(), "…"), 1});
  return columns;
}

// How many of the columns from `first` on fit beside the labels: one at least.
size_t fitting(const std::vector<PrintedColumn>& columns, size_t first, int64_t room) {
  size_t end = first;
  for (; end < columns.size(); ++end) {
    room -= space_between + columns[end].width;
    if (room < 0 && end > first) break;
  }
  return end;
}

void print_columns(std::string& page, const Labels& labels, int64_t label_width,
                   std::span<const PrintedColumn> columns) {
  const auto line = [&](const std::string& label, const auto& text_of) {
    std::string text = indent + padded_to_columns(label, label_width);
    for (const PrintedColumn& column : columns)
      text += std::string(space_between, ' ') + padded_left(text_of(column), column.width);
    page += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  line("", [](const PrintedColumn& column) { return column.label; });
  for (size_t r = 0; r < labels.size(); ++r)
    line(labels[r], [&](const PrintedColumn& column) { return column.cells[r]; });
}

// A text of several words, broken between them.
void print_words(std::string& page, const std::string& text, int64_t width, const std::string& first) {
  std::string line = first;
  const std::string next(static_cast<size_t>(columns_of(first)), ' ');
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const bool is_first = columns_of(line) == columns_of(first);
    if (!is_first && columns_of(line) + 1 + columns_of(word) > width) {
      page += line + "\n";
      line = next + word;
    } else {
      line += (is_first ? "" : " ") + word;
    }
    begin = end + 1;
  }
  page += line + "\n";
}

void print_table(std::string& page, const Table& table, const TextLayout& layout) {
  page += "\n";
  print_words(page, table.formula, layout.width, table.name + (table.formula.empty() ? "" : ":  "));
  Labels labels;
  int64_t label_width = 0;
  for (const std::string& row : table.rows) {
    labels.push_back(cut_to_columns(row, widest_label));
    label_width = std::max(label_width, columns_of(labels.back()));
  }
  const std::vector<PrintedColumn> columns = printed_columns(table, layout);
  const int64_t room = layout.width - columns_of(indent) - label_width;
  for (size_t first = 0; first < columns.size();) {
    const size_t end = fitting(columns, first, room);
    print_columns(page, labels, label_width, std::span(columns).subspan(first, end - first));
    first = end;
  }
}

}  // namespace

std::string to_text(const Explanation& explanation, const TextLayout& layout) {
  std::string page;
  for (const std::string& note : explanation.notes) print_words(page, note, layout.width, "");
  for (const Step& step : explanation.steps) {
    std::string heading = "── " + step.name + " ";
    while (columns_of(heading) < layout.width) heading += "─";
    page += (page.empty() ? "" : "\n") + heading + "\n";
    for (const StepSection& section : step.sections) {
      page += "\n";
      print_words(page, section.title, layout.width, "▸ ");
      for (const std::string& note : section.notes) print_words(page, note, layout.width, "  ");
      for (const Table& table : section.tables) print_table(page, table, layout);
    }
  }
  return page;
}

}  // namespace dragoman::internal
