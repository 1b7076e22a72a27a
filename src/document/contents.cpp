#include "document/contents.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/error.h"
#include "base/lines.h"
#include "document/office/package.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view after_blanks_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text;
}

std::string_view format_of_package(std::string_view bytes) {
  // Books and OpenDocument begin with an entry "mimetype", which is not compressed.
  constexpr size_t name_at = 30;
  const std::string_view first = bytes.substr(std::min(name_at, bytes.size()), 100);
  if (first.starts_with("mimetype")) {
    if (first.find("application/epub+zip") != first.npos) return "epub";
    if (first.find("application/vnd.oasis.opendocument") != first.npos) return "odf";
  }
  try {
    const Package package(bytes, {});
    if (package.contains("[Content_Types].xml")) return "docx";
    if (package.contains("META-INF/container.xml")) return "epub";
    if (package.contains("content.xml")) return "odf";
  } catch (const Error&) {
    // The format that the file's name gives refuses it, by that name.
  }
  return {};
}

// What begins with < is skipped up to this end.
bool skip_to(std::string_view& text, std::string_view end) {
  const size_t found = text.find(end);
  if (found == text.npos) return false;
  text = after_blanks_of(text.substr(found + end.size()));
  return true;
}

// By the root element, or its declaration.
std::string_view format_of_markup(std::string_view text) {
  while (text.starts_with("<?") || text.starts_with("<!")) {
    constexpr std::string_view html = "<!doctype html";
    if (same_ignoring_case(text.substr(0, html.size()), html)) return "html";
    const bool is_comment = text.starts_with("<!--");
    const bool has_subset = !is_comment && text.substr(0, text.find('>')).find('[') != text.npos;
    if (!skip_to(text, is_comment ? "-->" : text[1] == '?' ? "?>" : has_subset ? "]>" : ">")) return {};
  }
  if (!text.starts_with('<')) return {};
  const std::string_view name = text.substr(1, std::min(text.find_first_of(" \t\r\n/>"), text.size()) - 1);
  const std::string_view local = name.substr(name.rfind(':') + 1);
  if (local == "xliff") return "xliff";
  if (local == "tmx") return "tmx";
  if (same_ignoring_case(name, "html")) return "html";
  return name.starts_with("office:document") ? "odf" : std::string_view();
}

// The key's value, after blanks and a colon; empty: there is no such key.
std::string_view value_of(std::string_view json, std::string_view key) {
  const size_t found = json.find(key);
  if (found == json.npos) return {};
  const std::string_view behind = after_blanks_of(json.substr(found + key.size()));
  return behind.starts_with(':') ? after_blanks_of(behind.substr(1)) : std::string_view();
}

std::string_view format_of_json(std::string_view text) {
  if (!after_blanks_of(text.substr(1)).starts_with('"')) return {};
  const bool is_catalog =
      value_of(text, "\"sourceLanguage\"").starts_with('"') && value_of(text, "\"strings\"").starts_with('{');
  return is_catalog ? "xcstrings" : "json";
}

bool is_po(std::string_view text) {
  while (text.starts_with('#')) text = after_blanks_of(text.substr(std::min(text.find('\n'), text.size())));
  return (text.starts_with("msgid \"") || text.starts_with("msgctxt \"")) &&
         text.find("\nmsgstr") != text.npos;
}

bool is_srt(std::string_view text) {
  const std::string_view number = text.substr(0, text.find_first_not_of("0123456789"));
  const std::string_view time = after_blanks_of(text.substr(number.size()));
  return !number.empty() && time.substr(0, time.find_first_of("\r\n")).find(" --> ") != time.npos;
}

}  // namespace

bool is_package(std::string_view bytes) { return bytes.starts_with("PK\3\4"); }

std::string_view format_of_contents(std::string_view bytes) {
  if (is_package(bytes)) return format_of_package(bytes);
  if (bytes.starts_with("%PDF-")) return "pdf";
  if (bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
  const std::string_view text = after_blanks_of(bytes);
  if (text.starts_with('<')) return format_of_markup(text);
  if (text.starts_with('{')) return format_of_json(text);
  if (text.starts_with("WEBVTT") && (text.size() == 6 || blanks.find(text[6]) != blanks.npos)) return "vtt";
  if (is_po(text)) return "po";
  return is_srt(text) ? "srt" : std::string_view();
}

}  // namespace dragoman::internal
