#include "serve/deepl/glossary_entries.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/lines.h"
#include "serve/route.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_columns = 4, max_entries = 100'000;

[[noreturn]] void refuse(size_t line, const std::string& what) {
  throw ServeError(400, fmt::format("the glossary's line {} {}", line, what));
}

// Collects entries, and checks each.
class Entries {
 public:
  void add(const std::vector<std::string>& columns, size_t line, size_t allowed_columns) {
    if (columns.size() == 1 && columns.front().empty()) return;
    if (columns.size() < 2 || columns.size() > allowed_columns) refuse(line, "is not a source and a target");
    for (const std::string& text : {columns[0], columns[1]}) {
      if (text.find_first_not_of(" \t\r\n") == text.npos) refuse(line, "has an empty term");
      if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20; }))
        refuse(line, "has a term with control characters");
    }
    check_number_of_entries(entries_.size() + 1);
    if (!sources_.insert(columns[0]).second) refuse(line, "has the source of an earlier line");
    entries_.push_back({columns[0], columns[1]});
  }

  GlossaryEntries finish() && {
    if (entries_.empty()) throw ServeError(400, "the glossary has no entries");
    return std::move(entries_);
  }

 private:
  GlossaryEntries entries_;
  std::set<std::string> sources_;
};

std::string_view without_mark(std::string_view text) {
  return text.substr(text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
}

// A column of a line in CSV, and what ends it: a comma, a line feed, or nothing.
std::pair<std::string, char> take_column(std::string_view& rest, size_t line) {
  std::string column;
  const bool quoted = rest.starts_with('"');
  if (quoted) {
    for (rest.remove_prefix(1);; rest.remove_prefix(1)) {
      if (rest.empty()) refuse(line, "has a quotation mark that is not closed");
      if (rest.starts_with("\"\"")) {
        rest.remove_prefix(1);
      } else if (rest.starts_with('"')) {
        break;
      }
      column += rest.front();
    }
    rest.remove_prefix(1);
    if (rest.starts_with("\r\n")) rest.remove_prefix(1);
  }
  const size_t end = std::min(rest.find_first_of(",\n"), rest.size());
  if (quoted && end > 0) refuse(line, "has text after a quotation mark");
  if (!quoted) column = rest.substr(0, end);
  const char ending = end < rest.size() ? rest[end] : '\0';
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (!quoted && ending != ',' && column.ends_with('\r')) column.pop_back();
  return {column, ending};
}

}  // namespace

void check_number_of_entries(size_t number) {
  if (number > max_entries)
    throw ServeError(413, fmt::format("the glossary has more than {} entries: make several", max_entries));
}

GlossaryEntries entries_of_tsv(std::string_view text) {
  Entries entries;
  std::string_view rest = without_mark(text);
  for (size_t line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view row = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (row.ends_with('\r')) row.remove_suffix(1);
    std::vector<std::string> columns;
    for (size_t tab; (tab = row.find('\t')) != row.npos && columns.size() < max_columns;
         row.remove_prefix(tab + 1))
      columns.emplace_back(row.substr(0, tab));
    columns.emplace_back(row);
    entries.add(columns, line, 2);
  }
  return std::move(entries).finish();
}

GlossaryEntries entries_of_csv(std::string_view text) {
  Entries entries;
  std::string_view rest = without_mark(text);
  for (size_t line = 1; !rest.empty(); ++line) {
    std::vector<std::string> columns;
    for (char ending = ','; ending == ',';) {
      auto [column, end] = take_column(rest, line);
      if (columns.size() == max_columns) refuse(line, "has more than four columns");
      columns.push_back(std::move(column));
      ending = end;
    }
    entries.add(columns, line, max_columns);
  }
  return std::move(entries).finish();
}

std::string tsv_of(const GlossaryEntries& entries) {
  std::string text;
  for (const auto& entry : entries) text += entry.source + "\t" + entry.target + "\n";
  return text;
}

}  // namespace dragoman::internal
