#include "data/sentence_reader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/parse_number.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

std::string_view trimmed(std::string_view text) { return stripped(text, " \t\r"); }

// Whether a tag, without its <, has this name.
bool has_name(std::string_view text, std::string_view name) {
  constexpr std::string_view ends = " \t/>";
  return text.starts_with(name) && text.size() > name.size() && ends.find(text[name.size()]) != ends.npos;
}

bool is_tag_line(std::string_view line) {
  constexpr std::array names = {"url",      "talkid",     "title",   "description", "keywords",
                                "reviewer", "translator", "speaker", "doc",         "file"};
  if (!line.starts_with('<')) return false;
  line.remove_prefix(line.starts_with("</") ? 2 : 1);
  return std::ranges::any_of(names, [&](const char* name) { return has_name(line, name); });
}

// Where a <seg> begins; npos: nowhere.
size_t find_segment(std::string_view line) {
  size_t at = line.find("<seg");
  while (at != line.npos && !has_name(line.substr(at + 1), "seg")) at = line.find("<seg", at + 1);
  return at;
}

// Of <seg id="1">, without quotes.
std::string_view id_of(std::string_view tag) {
  const size_t name = tag.find(" id=");
  if (name == tag.npos) return {};
  tag = tag.substr(name + 4);
  const std::string_view ends = tag.starts_with('"') ? "\"" : tag.starts_with('\'') ? "'" : " />";
  if (ends != " />") tag.remove_prefix(1);
  return tag.substr(0, tag.find_first_of(ends));
}

// Of the digits after "&#"; empty: they are not a character's number.
std::string character_of(std::string_view digits) {
  const bool is_hex = digits.starts_with('x') || digits.starts_with('X');
  if (is_hex) digits.remove_prefix(1);
  const auto number = parse_number<uint32_t>(digits, is_hex ? 16 : 10);
  if (!number || *number == 0) return {};
  return *number < ' ' ? " " : to_utf8(*number);
}

// Of an entity's name, without & and ;.
std::string replacement_of(std::string_view name) {
  if (name.starts_with('#')) return character_of(name.substr(1));
  for (const auto& [entity, character] : {std::pair{"amp", "&"}, std::pair{"lt", "<"}, std::pair{"gt", ">"},
                                          std::pair{"quot", "\""}, std::pair{"apos", "'"}}) {
    if (name == entity) return character;
  }
  return {};
}

}  // namespace

TextFormat format_of_file(const std::string& path, TextFormat format) {
  if (format != TextFormat::automatic) return format;
  const std::filesystem::path name = uncompressed_name(path);
  const std::string ending = name.extension().string();
  if (ending == ".xml" || ending == ".sgm" || ending == ".sgml") return TextFormat::sgm;
  return name.string().find("train.tags.") != std::string::npos ? TextFormat::iwslt : TextFormat::text;
}

SentenceReader::SentenceReader(const std::string& path, TextFormat format)
    : lines_(path), format_(format_of_file(path, format)) {}

bool SentenceReader::next(FileSentence& sentence) {
  const bool more = format_ == TextFormat::sgm ? next_segment(sentence) : next_line(sentence);
  count_ += more;
  return more;
}

std::string SentenceReader::place() const { return fmt::format("{}:{}", lines_.path(), lines_.number()); }

bool SentenceReader::next_line(FileSentence& sentence) {
  sentence = {};
  if (!lines_.next(sentence.text)) return false;
  if (format_ == TextFormat::text) return true;
  sentence.text = trimmed(sentence.text);
  sentence.is_tag = is_tag_line(sentence.text);
  return true;
}

bool SentenceReader::next_segment(FileSentence& sentence) {
  for (size_t at = find_segment(rest_); true; at = find_segment(rest_)) {
    if (at != rest_.npos) {
      rest_.remove_prefix(at);
      read_segment(sentence);
      return true;
    }
    if (!lines_.next(rest_)) break;
  }
  rest_ = {};
  if (count_ == 0) {
    throw Error(
        "{} has no <seg> elements, which its file name promises: if its lines are sentences, rename it or "
        "set "
        "data.format",
        lines_.path());
  }
  return false;
}

// From its <seg>, with which the rest of the line begins.
void SentenceReader::read_segment(FileSentence& sentence) {
  constexpr std::string_view end_tag = "</seg>";
  const size_t begin = rest_.find('>'), end = rest_.find(end_tag);
  if (end == rest_.npos || begin > end || find_segment(rest_.substr(begin)) < end - begin)
    throw Error("{}: a <seg> does not end on its line: join the lines up to its </seg>", place());
  decoded_ = decoded_entities(trimmed(rest_.substr(begin + 1, end - begin - 1)));
  sentence = {.text = decoded_, .id = id_of(rest_.substr(0, begin))};
  rest_.remove_prefix(end + end_tag.size());
}

std::string decoded_entities(std::string_view text) {
  constexpr size_t longest = 10;  // a name's length: #x10FFFF, with zeros before it
  std::string decoded;
  for (size_t at = text.find('&'); at != text.npos; at = text.find('&')) {
    decoded += text.substr(0, at);
    text.remove_prefix(at);
    const size_t end = text.substr(0, longest + 2).find(';');
    const std::string replacement = end == text.npos ? "" : replacement_of(text.substr(1, end - 1));
    decoded += replacement.empty() ? "&" : replacement;
    text.remove_prefix(replacement.empty() ? 1 : end + 1);
  }
  return decoded.append(text);
}

}  // namespace dragoman::internal
