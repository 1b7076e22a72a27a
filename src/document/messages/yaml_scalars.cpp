#include "document/messages/yaml_scalars.h"

#include <algorithm>
#include <istream>
#include <streambuf>

#include <unicode/uloc.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/ascii.h"
#include "base/error.h"
#include "document/messages/strings.h"
#include "document/messages/unicode_escapes.h"
#include "text/language_codes.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using YamlStyle = YamlScalar::Style;

constexpr size_t max_yaml_bytes = size_t{64} << 20;
constexpr std::string_view yaml_blanks = " \t\r\n";

// The bytes of a file as a stream, without a copy.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view bytes) {
    char* const begin = const_cast<char*>(bytes.data());  // which no reader changes
    setg(begin, begin, begin + bytes.size());
  }
};

// The scalars and where they begin.
class Events : public YAML::EventHandler {
 public:
  struct Found {
    YamlScalar scalar;
    size_t begin;
  };

  std::vector<Found> found;
  size_t root_keys = 0;
  bool root_value_is_map = false;

  // At a comma outside brackets yaml-cpp finds empty documents without end.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (mark.pos == last_document_) throw YAML::ParserException(mark, "no value begins here");
    last_document_ = mark.pos;
    ++documents_;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override { node(); }
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { node(); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    const bool is_key = node();
    const bool is_string = tag.empty() || tag == "?" || tag == "!" || tag == "tag:yaml.org,2002:str";
    YamlScalar scalar = {.value = value,
                         .is_string = is_string,
                         .is_key = is_key,
                         .in_flow = !levels_.empty() && levels_.back().is_flow,
                         .depth = levels_.size()};
    if (!levels_.empty()) {
      if (is_key) levels_.back().key = value;
      scalar.key = levels_.back().key;
      scalar.in_formats = std::ranges::any_of(
          levels_, [](const Level& level) { return level.key == "format" || level.key == "formats"; });
    }
    found.push_back({std::move(scalar), static_cast<size_t>(std::max(mark.pos, 0))});
  }

  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value style) override {
    begin(false, style);
  }
  void OnSequenceEnd() override { levels_.pop_back(); }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value style) override {
    if (levels_.size() == 1 && root_keys == 1 && !levels_[0].next_is_key) root_value_is_map = true;
    begin(true, style);
  }
  void OnMapEnd() override { levels_.pop_back(); }

  bool has_one_root_key() const { return documents_ == 1 && root_keys == 1; }

 private:
  struct Level {
    bool is_map, is_flow, next_is_key;
    std::string key = {};
  };

  // Whether the node that begins is a key.
  bool node() {
    if (levels_.empty() || !levels_.back().is_map) return false;
    const bool is_key = levels_.back().next_is_key;
    if (is_key && levels_.size() == 1) ++root_keys;
    levels_.back().next_is_key = !is_key;
    return is_key;
  }

  void begin(bool is_map, YAML::EmitterStyle::value style) {
    node();
    const bool around = !levels_.empty() && levels_.back().is_flow;
    levels_.push_back({is_map, around || style == YAML::EmitterStyle::Flow, is_map});
  }

  std::vector<Level> levels_;
  int documents_ = 0, last_document_ = -1;
};

Events events_of(std::string_view file, const DocumentSettings& settings) {
  if (file.size() > max_yaml_bytes)
    throw Error("{}: the file is too large, the limit is {} MB: split it", settings.name,
                max_yaml_bytes >> 20);
  ViewBuffer buffer(file);
  std::istream stream(&buffer);
  Events events;
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(events)) {}
  } catch (const YAML::Exception& error) {
    throw Error("{}: line {} is not valid YAML ({}): correct it", settings.name, error.mark.line + 1,
                error.msg);
  }
  return events;
}

// Past anchors and tags.
size_t skip_properties(std::string_view file, size_t at) {
  while (at < file.size() && (file[at] == '&' || file[at] == '!')) {
    at = std::min(file.find_first_of(yaml_blanks, at), file.size());
    at = std::min(file.find_first_not_of(yaml_blanks, at), file.size());
  }
  return at;
}

std::string decoded_with(size_t (*decode)(std::string_view, std::string&), std::string_view bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size();) at += decode(bytes.substr(at), text);
  return text;
}

// Where plain text with this value ends; 0: it is another text.
size_t end_of_plain(std::string_view file, size_t at, std::string_view value) {
  while (!value.empty()) {
    if (at == file.size()) return 0;
    std::string text;
    at += decode_yaml_folded(file.substr(at), text);
    if (!value.starts_with(text)) return 0;
    value.remove_prefix(text.size());
  }
  return at;
}

size_t end_of_quoted(std::string_view file, size_t at, char quote) {
  for (; at < file.size(); ++at) {
    if (file[at] == '\\' && quote == '"') {
      ++at;
    } else if (file[at] == quote) {
      if (quote == '"' || !file.substr(at + 1).starts_with('\'')) return at;
      ++at;
    }
  }
  return file.npos;
}

// The lines of a block, without the white space before the first and after the last; empty if there are none. Ends
// after `longest` bytes of text: after an empty block it would read to the end of the file.
TextSpan block_at(std::string_view file, size_t header, size_t longest, std::string& text) {
  size_t at = file.find('\n', header), indent = 0, end = 0, begin = 0;
  while (at < file.size() && text.size() <= longest) {
    const size_t line = at + 1, words = std::min(file.find_first_not_of(' ', line), file.size());
    const size_t next = std::min(file.find('\n', line), file.size());
    const bool blank = stripped(file.substr(line, next - line), " \t\r").empty();
    if (!blank && begin == 0) {
      indent = words - line;
      begin = words;
    }
    if (!blank && words - line < indent) break;
    if (begin > 0 && !(blank && next == file.size())) {
      const std::string_view rest =
          file.substr(std::min(line + indent, next), next - std::min(line + indent, next));
      text.append(line > begin ? "\n" : "")
          .append(rest.ends_with('\r') ? rest.substr(0, rest.size() - 1) : rest);
    }
    if (!blank) end = line + stripped(file.substr(line, next - line), " \t\r").size() + (words - line);
    at = next;
  }
  return {begin, std::max(begin, end)};
}

// Folds lines as YAML does, if none is indented.
std::string folded(std::string_view lines) {
  std::string text;
  for (size_t at = 0; at < lines.size();) {
    if (lines[at] != '\n') {
      text += lines[at++];
      continue;
    }
    const size_t end = std::min(lines.find_first_not_of('\n', at), lines.size());
    text.append(end - at == 1 ? 1 : 0, ' ').append(end - at - 1, '\n');
    at = end;
  }
  return text;
}

std::string_view without_line_ends(std::string_view text) {
  return text.substr(0, text.find_last_not_of("\r\n") + 1);
}

// Finds the scalar's text. False if it is not where and what it should be.
bool locate(std::string_view file, size_t begin, YamlScalar& scalar) {
  const size_t at = skip_properties(file, begin);
  if (at >= file.size()) return false;
  const char first = file[at];
  if (first == '"' || first == '\'') {
    scalar.style = first == '"' ? YamlStyle::double_quoted : YamlStyle::single_quoted;
    const size_t end = end_of_quoted(file, at + 1, first);
    if (end == file.npos) return false;
    scalar.place = {at + 1, end};
    const auto decode = first == '"' ? decode_yaml_double_quoted : decode_yaml_single_quoted;
    return decoded_with(decode, scalar.place.of(file)) == scalar.value;
  }
  if (first == '|' || first == '>') {
    scalar.style = first == '|' ? YamlStyle::literal : YamlStyle::folded;
    const size_t longest = 2 * scalar.value.size() + 1;  // folding at most halves the line breaks
    std::string lines;
    scalar.place = block_at(file, at, longest, lines);
    const std::string_view text = without_line_ends(lines), value = without_line_ends(scalar.value);
    return scalar.place.begin < scalar.place.end &&
           value == (first == '|' ? std::string(text) : folded(text));
  }
  scalar.place = {at, end_of_plain(file, at, scalar.value)};
  return scalar.place.end > at;
}

// "en", "pt-BR": the one that is translated from, if that is known.
bool is_language(std::string_view text, const std::string& from) {
  if (!from.empty()) return same_language(text, from);
  const std::string_view language = text.substr(0, text.find_first_of("-_"));
  if (text.size() > 7) return false;
  for (const char* const* known = uloc_getISOLanguages(); *known != nullptr; ++known)
    if (language == *known) return true;
  return false;
}

// Blanks stay, but with line breaks among them they become a space, or one break less.
size_t folded_at(std::string_view bytes, std::string& text) {
  const size_t end = std::min(bytes.find_first_not_of(yaml_blanks), bytes.size());
  const auto breaks =
      static_cast<size_t>(std::count(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(end), '\n'));
  if (breaks == 0)
    text += bytes.substr(0, end);
  else
    text.append(breaks == 1 ? 1 : 0, ' ').append(breaks - 1, '\n');
  return end;
}

}  // namespace

size_t decode_yaml_folded(std::string_view bytes, std::string& text) {
  const size_t size = folded_at(bytes, text);
  return size > 0 ? size : decode_character(bytes, {}, text);
}

size_t decode_yaml_single_quoted(std::string_view bytes, std::string& text) {
  if (!bytes.starts_with("''")) return decode_yaml_folded(bytes, text);
  text += '\'';
  return 2;
}

size_t decode_yaml_double_quoted(std::string_view bytes, std::string& text) {
  if (const size_t size = decode_unicode_escape(bytes, text); size > 0) return size;
  if (bytes[0] != '\\') return decode_yaml_folded(bytes, text);
  const size_t line = bytes.substr(1).starts_with("\r\n") ? 3 : bytes.substr(1).starts_with('\n') ? 2 : 0;
  if (line > 0) return std::min(bytes.find_first_not_of(" \t", line), bytes.size());
  return decode_character(bytes, {"0abtnvfre\"/\\ ", std::string_view("\0\a\b\t\n\v\f\r\x1B\"/\\ ", 13)},
                          text);
}

size_t decode_yaml_literal(std::string_view bytes, std::string& text) {
  const size_t line = bytes.starts_with("\r\n") ? 2 : bytes.starts_with('\n') ? 1 : 0;
  if (line == 0) return decode_character(bytes, {}, text);
  text += '\n';
  return std::min(bytes.find_first_not_of(' ', line), bytes.size());
}

YamlFile yaml_file(std::string_view file, const DocumentSettings& settings) {
  Events events = events_of(file, settings);
  YamlFile result;
  bool language = false;
  for (Events::Found& found : events.found) {
    if (!locate(file, found.begin, found.scalar)) continue;
    language |= result.scalars.empty() && found.scalar.is_key && found.scalar.depth == 1 &&
                events.has_one_root_key() && events.root_value_is_map &&
                is_language(found.scalar.value, settings.from);
    result.scalars.push_back(std::move(found.scalar));
  }
  if (language) result.language = &result.scalars.front();
  return result;
}

}  // namespace dragoman::internal
