#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>

#include "base/ascii.h"
#include "base/error.h"
#include "base/lines.h"
#include "document/glossary.h"
#include "document/glossary/tbx.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

std::string_view without_blanks(std::string_view text) { return stripped(text, " \t\r\n\v\f"); }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

// Separated by |; \| is a literal |.
std::vector<std::string> alternatives(std::string_view text) {
  std::vector<std::string> all(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("\\|")) {
      all.back() += text[++i];
    } else if (text[i] == '|') {
      all.emplace_back();
    } else {
      all.back() += text[i];
    }
  }
  return all;
}

bool is_header(std::span<const std::string_view> columns) {
  constexpr std::array<std::string_view, 2> names = {"source", "target"};
  for (size_t i = 0; i < names.size(); ++i)
    if (in_lower_case(without_blanks(columns[i])) != names[i]) return false;
  return true;
}

class TabSeparated {
 public:
  explicit TabSeparated(const std::string& path) : lines_(path) {}

  std::vector<GlossaryEntry> read() {
    std::vector<GlossaryEntry> entries;
    bool first = true;
    for (std::string_view line; lines_.next(line);) {
      if (!is_text(line)) throw error("is not valid UTF-8: save the file as UTF-8");
      if (without_blanks(line).empty() || line.starts_with('#')) continue;
      if (line.starts_with("\\#")) line.remove_prefix(1);
      const std::vector<std::string_view> columns = split(line, '\t');
      if (columns.size() < 2 || columns.size() > 3)
        throw error("needs a source, a tab and a target, and optionally a tab and flags");
      if (!std::exchange(first, false) || !is_header(columns)) entries.push_back(entry_of(columns));
    }
    return entries;
  }

 private:
  Error error(const std::string& what) const {
    return Error("{}:{}: {}", lines_.path(), lines_.number(), what);
  }

  std::vector<std::string> terms_of(std::string_view column, const char* side, const char* advice) const {
    std::vector<std::string> terms;
    for (const std::string& text : alternatives(column)) {
      terms.push_back(checked_term(text, lines_.path(), lines_.number()));
      if (terms.back().empty()) throw error(fmt::format("has an empty {}: {}", side, advice));
    }
    return terms;
  }

  GlossaryEntry entry_of(std::span<const std::string_view> columns) const {
    GlossaryEntry entry = {
        .sources = terms_of(columns[0], "source", "write a term before the tab, or remove the line"),
        .targets = {}};
    if (without_blanks(columns[1]) != "=")
      entry.targets = terms_of(columns[1], "target", "write = for a term that stays as it is");
    if (columns.size() < 3) return entry;
    for (std::string_view flag : split(columns[2], ',')) {
      flag = without_blanks(flag);
      if (flag == "any-case") {
        entry.letter_case = GlossaryEntry::Case::any;
      } else if (flag == "exact-case") {
        entry.letter_case = GlossaryEntry::Case::exact;
      } else if (!flag.empty()) {
        throw error(fmt::format("has the unknown flag \"{}\": use any-case or exact-case", flag));
      }
    }
    return entry;
  }

  LineReader lines_;
};

// Whether the file begins as XML does, in UTF-8 or UTF-16. A pipe does not: what is read from it here is lost.
bool is_xml(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(64, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  std::erase(begin, '\0');
  constexpr std::string_view marks[] = {byte_order_mark, "\xFF\xFE", "\xFE\xFF"};
  for (const std::string_view mark : marks)
    if (begin.starts_with(mark)) begin.erase(0, mark.size());
  const std::string_view text = without_blanks(begin);
  return text.starts_with("<?xml") || text.starts_with("<martif") || text.starts_with("<tbx") ||
         text.starts_with("<!DOCTYPE");
}

}  // namespace

std::vector<GlossaryEntry> read_glossary(const std::string& path, const GlossaryLanguages& languages) {
  return is_xml(path) ? read_tbx(path, languages) : TabSeparated(path).read();
}

std::string checked_term(const std::string& text, const std::string& path, int64_t line) {
  const std::u32string points = code_points(text);
  if (points.size() > max_term_length)
    throw Error("{}:{}: has a term of {} characters, the limit is {}", path, line, points.size(),
                max_term_length);
  return to_utf8(single_spaced(points));
}

}  // namespace dragoman::internal
