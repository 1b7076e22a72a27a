#include "document/formats.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/error.h"
#include "document/contents.h"
#include "document/pdf/pages.h"
#include "document/readers.h"

namespace dragoman::internal {
namespace {

// Of formats that have no reader, and what the programs that write them can write as well.
constexpr std::pair<std::string_view, std::string_view> former_endings[] = {
    {".doc", ".docx"}, {".dot", ".docx"},  {".rtf", ".docx"},   {".ppt", ".pptx"},
    {".xls", ".xlsx"}, {".sxw", ".odt"},   {".pages", ".docx"}, {".numbers", ".xlsx"},
    {".key", ".pptx"}, {".mobi", ".epub"}, {".azw3", ".epub"}};

constexpr bool keeps_source = true;

bool ends_with(std::string_view file, std::string_view ending) {
  return file.size() > ending.size() && same_ignoring_case(file.substr(file.size() - ending.size()), ending);
}

}  // namespace

std::span<const DocumentFormat> document_formats() {
  static const std::vector<DocumentFormat> formats = {
      {"text", "plain text, one paragraph per line", {".txt", ".text"}, read_plain_text},
      {"html", "HTML", {".html", ".htm", ".xhtml"}, read_html},
      {"markdown", "Markdown", {".md", ".markdown", ".mdown", ".mkd"}, read_markdown},
      {"rst", "reStructuredText", {".rst"}, read_rst},
      {"docx", "Microsoft Word documents", {".docx", ".docm", ".dotx", ".dotm"}, read_ooxml},
      {"pptx",
       "Microsoft PowerPoint presentations",
       {".pptx", ".pptm", ".ppsx", ".potx", ".potm"},
       read_ooxml},
      {"xlsx", "Microsoft Excel spreadsheets", {".xlsx", ".xlsm", ".xltx", ".xltm"}, read_ooxml},
      {"odf",
       "OpenDocument: LibreOffice",
       {".odt", ".ods", ".odp", ".odg", ".ott", ".ots", ".otp", ".fodt", ".fods", ".fodp"},
       read_odf},
      {"epub", "books", {".epub"}, read_epub},
      {"pdf", "PDF, as plain text", {".pdf"}, read_pdf, false, "text", reads_pdf},
      {"srt", "subtitles (SubRip)", {".srt"}, read_srt},
      {"vtt", "subtitles (WebVTT)", {".vtt"}, read_vtt},
      {"po", "message catalogues (gettext)", {".po", ".pot"}, read_po, keeps_source},
      {"json", "JSON string tables", {".json", ".arb"}, read_json_strings},
      {"properties", "Java string tables", {".properties"}, read_properties},
      {"strings", "string tables of macOS and iOS", {".strings"}, read_apple_strings},
      {"stringsdict", "plural rules of macOS and iOS", {".stringsdict"}, read_stringsdict},
      {"xcstrings", "String Catalogs of Xcode", {".xcstrings"}, read_string_catalog, keeps_source},
      {"yaml", "YAML string tables", {".yaml", ".yml"}, read_yaml},
      {"csv", "tables (CSV)", {".csv"}, read_csv},
      {"tsv", "tables with tabs (TSV)", {".tsv", ".tab"}, read_tsv},
      {"xliff", "XLIFF 1.2 and 2", {".xlf", ".xliff", ".mxliff", ".sdlxliff"}, read_xliff, keeps_source},
      {"tmx", "translation memories", {".tmx"}, read_tmx, keeps_source},
      {"android", "Android string tables", {}, read_android_strings},
      {"xml", "any other XML", {".xml"}, read_any_xml},
  };
  return formats;
}

const DocumentFormat& document_format(std::string_view name, std::string_view file) {
  std::vector<std::string_view> names;
  for (const DocumentFormat& format : document_formats()) {
    const auto fits = [&](std::string_view ending) { return ends_with(file, ending); };
    if (name.empty() ? std::ranges::any_of(format.endings, fits) : format.name == name) return format;
    names.push_back(format.name);
  }
  if (!name.empty())
    throw UsageError("\"{}\" is not a document format: use {}", name, fmt::join(names, ", "));
  for (const auto& [ending, other] : former_endings)
    if (ends_with(file, ending))
      throw UsageError("{}: {} files cannot be read: save the document as {}", file, ending, other);
  throw UsageError("{}: unknown file extension: give the document format, one of {}", file,
                   fmt::join(names, ", "));
}

const DocumentFormat& document_format(std::string_view name, std::string_view file, std::string_view bytes) {
  const DocumentFormat& named = document_format(name, file);
  const std::string_view found = format_of_contents(bytes);
  if (found.empty()) return named;
  const DocumentFormat& format = document_format(found, "");
  const bool is_yaml_too = named.name == "yaml" && format.name == "json";  // {"a": b} is only YAML
  if (format.read == named.read || is_yaml_too) return named;
  if (!name.empty() && is_package(bytes))
    throw Error("{}: this file has the format {}, not {}: give that one", file, format.name, name);
  // Texts may quote other formats.
  const bool is_text = named.name == "text" || named.name == "markdown";
  return !name.empty() || (is_text && !is_package(bytes)) ? named : format;
}

}  // namespace dragoman::internal
