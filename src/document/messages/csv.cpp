// Tables of text: CSV and TSV (RFC 4180), with whatever separator.
#include <algorithm>
#include <array>
#include <set>

#include "base/ascii.h"
#include "base/error.h"
#include "base/parse_number.h"
#include "document/messages/message_document.h"
#include "document/readers.h"
#include "document/utf16.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_csv_cells = 20'000'000;  // of which each takes memory

struct CsvCell {
  TextSpan place;  // in the file, with quotation marks
  bool quoted = false;

  std::string_view inner_of(std::string_view file) const {
    const std::string_view bytes = place.of(file);
    return quoted ? bytes.substr(1, bytes.size() - 2) : bytes;
  }
};

using CsvRow = std::vector<CsvCell>;

// The separator of most cells in the first line.
char separator_of(std::string_view file) {
  constexpr std::string_view separators = ",;\t|";
  std::array<size_t, separators.size()> counts = {};
  bool quoted = false;
  for (const char c : file) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || c == '\r') break;
    if (const size_t found = separators.find(c); found != separators.npos) ++counts[found];
  }
  return separators[static_cast<size_t>(std::ranges::max_element(counts) - counts.begin())];
}

class CsvParser {
 public:
  CsvParser(std::string_view file, char separator, const DocumentSettings& settings)
      : file_(file), ends_{separator, '\n', '\r'}, settings_(settings) {}

  // Of a last line without an end, too. An empty line has one empty cell.
  std::vector<CsvRow> rows() && {
    std::vector<CsvRow> rows;
    for (size_t at = 0, cells = 0; at < file_.size();) {
      CsvRow& row = rows.emplace_back();
      for (;; ++at) {
        if (++cells > max_csv_cells)
          throw Error("{}: the table is too large, the limit is {} cells: split it", settings_.name,
                      max_csv_cells);
        row.push_back(cell(at));
        at = row.back().place.end;
        if (at == file_.size() || file_[at] != ends_[0]) break;
      }
      at += file_.substr(at).starts_with("\r\n") ? 2 : 1;
    }
    return rows;
  }

 private:
  CsvCell cell(size_t begin) const {
    if (begin < file_.size() && file_[begin] == '"') {
      size_t end = begin + 1;
      while ((end = file_.find('"', end)) != file_.npos && file_.substr(end + 1).starts_with('"')) end += 2;
      const bool is_end =
          end != file_.npos && (end + 1 == file_.size() || ends_.find(file_[end + 1]) != ends_.npos);
      if (is_end) return {.place = {begin, end + 1}, .quoted = true};
      // Tables with tabs often have quotation marks that quote nothing.
      if (ends_[0] != '\t')
        throw Error(
            "{}: line {} begins a cell with a quotation mark, but does not end it with one: correct it",
            settings_.name,
            1 + std::count(file_.begin(), file_.begin() + static_cast<ptrdiff_t>(begin), '\n'));
    }
    return {.place = {begin, std::min(file_.find_first_of(ends_, begin), file_.size())}};
  }

  std::string_view file_;
  std::string ends_;  // of cells: the separator, and ends of lines
  const DocumentSettings& settings_;
};

size_t decode_csv(std::string_view bytes, std::string& text) {
  if (bytes.starts_with("\"\"")) {
    text += '"';
    return 2;
  }
  return decode_character(bytes, {}, text);
}

std::string escape_csv(std::string_view text) { return internal::escaped(text, {{'"', "\"\""}}); }

// In a table with tabs a quotation mark has a meaning only where a cell begins with it.
bool needs_quotes(std::string_view cell, char separator) {
  if (cell.find_first_of(std::string{separator, '\n', '\r'}) != cell.npos) return true;
  return separator == '\t' ? cell.starts_with('"') : cell.find('"') != cell.npos;
}

// Text for people: words with spaces between them, which names and codes have not.
bool is_prose(std::string_view cell) {
  bool has_word = false;
  for (size_t begin = 0; begin < cell.size();) {
    const size_t end = std::min(cell.find(' ', begin), cell.size());
    const bool is_word = has_letters(cell.substr(begin, end - begin));
    if (is_word && has_word) return true;
    has_word |= is_word;
    begin = end + 1;
  }
  return false;
}

class CsvTable {
 public:
  CsvTable(std::string_view file, char separator, const DocumentSettings& settings)
      : file_(file),
        settings_(settings),
        separator_(separator),
        rows_(CsvParser(file, separator, settings).rows()) {}

  Document document() && {
    bool header = has_header();
    const std::set<size_t> columns = settings_.columns.empty() ? text_columns(header) : named_columns(header);
    const StringSyntax quoted = string_syntax<decode_csv, escape_csv>();
    const StringSyntax bare = string_syntax<decode_as_is, escape_as_is>();
    size_t at = 0;
    for (size_t row = header ? 1 : 0; row < rows_.size(); ++row) {
      for (size_t column = 0; column < rows_[row].size(); ++column) {
        const CsvCell& cell = rows_[row][column];
        if (!columns.contains(column)) continue;
        const std::string_view inner = cell.inner_of(file_);
        const auto begin = static_cast<size_t>(inner.data() - file_.data());
        document_.keep(file_.substr(at, begin - at));
        at = begin + inner.size();
        std::vector<MessagePart> parts = message_parts(inner, cell.quoted ? quoted : bare, {});
        if (cell.quoted)
          document_.add(inner, std::move(parts));
        else
          document_.add(inner, std::move(parts), [separator = separator_](std::string text) {
            return needs_quotes(text, separator) ? '"' + escape_csv(text) + '"' : text;
          });
      }
    }
    document_.keep(file_.substr(at));
    return std::move(document_).finish();
  }

 private:
  std::string_view cell_of(const CsvRow& row, size_t column) const {
    return column < row.size() ? row[column].inner_of(file_) : std::string_view();
  }

  // Names of columns are short, different, and no numbers. That of an index may be missing.
  bool has_header() const {
    constexpr size_t max_name = 40;
    if (rows_.size() < 2) return false;
    std::set<std::string_view> names;
    for (const CsvCell& cell : rows_[0]) {
      const std::string_view name = cell.inner_of(file_);
      const bool is_sentence = name.ends_with('.') || name.ends_with('!') || name.ends_with('?');
      if (is_white_space(name)) continue;
      if (!has_letters(name) || name.size() > max_name || is_sentence || !names.insert(name).second)
        return false;
    }
    return !names.empty();
  }

  // Those in which a fifth of the cells that are not empty have several words.
  std::set<size_t> text_columns(bool header) const {
    std::vector<size_t> cells, prose;
    for (size_t row = header ? 1 : 0; row < rows_.size(); ++row) {
      cells.resize(std::max(cells.size(), rows_[row].size()));
      prose.resize(cells.size());
      for (size_t column = 0; column < rows_[row].size(); ++column) {
        const std::string_view cell = cell_of(rows_[row], column);
        cells[column] += cell.find_first_not_of(" \t") != cell.npos;
        prose[column] += is_prose(cell);
      }
    }
    std::set<size_t> columns;
    for (size_t column = 0; column < cells.size(); ++column)
      if (prose[column] > 0 && 5 * prose[column] >= cells[column]) columns.insert(column);
    return columns;
  }

  // Numbers from 1, or names of the first row, which is a header then.
  std::set<size_t> named_columns(bool& header) const {
    std::set<size_t> columns;
    std::string_view rest = settings_.columns;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(','), rest.size());
      columns.insert(column_of(stripped(rest.substr(0, end)), header));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return columns;
  }

  size_t column_of(std::string_view name, bool& header) const {
    const CsvRow none, &first = rows_.empty() ? none : rows_[0];
    for (size_t column = 0; column < first.size(); ++column)
      if (name == stripped(first[column].inner_of(file_))) {
        header = true;
        return column;
      }
    const auto number = parse_number<size_t>(name);
    if (number && *number > 0 && *number <= std::max<size_t>(first.size(), 1)) return *number - 1;
    throw UsageError(
        "{}: there is no column \"{}\": name columns as the first row does, or by their numbers, 1 to {}",
        settings_.name, name, first.size());
  }

  std::string_view file_;
  const DocumentSettings& settings_;
  char separator_;
  std::vector<CsvRow> rows_;
  MessageDocument document_ = {};
};

template <bool tabs>
Document read_table(std::string_view bytes, const DocumentSettings& settings) {
  return read_after_mark(bytes, [&](std::string_view table) {
    return CsvTable(table, tabs ? '\t' : separator_of(table), settings).document();
  });
}

}  // namespace

Document read_csv(std::string_view bytes, const DocumentSettings& settings) {
  return read_unicode(bytes, settings, read_table<false>);
}
Document read_tsv(std::string_view bytes, const DocumentSettings& settings) {
  return read_unicode(bytes, settings, read_table<true>);
}

}  // namespace dragoman::internal
