#include <algorithm>
#include <array>
#include <map>

#include "base/ascii.h"
#include "base/error.h"
#include "document/office/package.h"
#include "document/readers.h"
#include "document/xml/block_content.h"
#include "document/xml/read_blocks.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

using Role = XmlRole;

// Each in its two variants, Transitional and Strict.
constexpr XmlNamespace ooxml_namespaces[] = {
    {"http://schemas.openxmlformats.org/wordprocessingml/2006/main", "w"},
    {"http://purl.oclc.org/ooxml/wordprocessingml/main", "w"},
    {"http://schemas.openxmlformats.org/drawingml/2006/main", "a"},
    {"http://purl.oclc.org/ooxml/drawingml/main", "a"},
    {"http://schemas.openxmlformats.org/drawingml/2006/chart", "c"},
    {"http://purl.oclc.org/ooxml/drawingml/chart", "c"},
    {"http://schemas.openxmlformats.org/spreadsheetml/2006/main", "x"},
    {"http://purl.oclc.org/ooxml/spreadsheetml/main", "x"},
};

const std::map<std::string_view, Role> ooxml_roles = {
    // Text documents. Deleted text, formulas, images and notes' numbers are points.
    {"w:p", Role::run_block},
    {"w:r", Role::run},
    {"w:rPr", Role::run_format},
    {"w:t", Role::run_text_spaced},
    {"w:pPr", Role::border},
    {"w:tab", Role::border},
    {"w:ptab", Role::border},
    {"w:br", Role::border},
    {"w:cr", Role::border},
    {"w:noBreakHyphen", Role::hyphen},
    {"w:softHyphen", Role::hint},
    {"w:proofErr", Role::hint},
    {"w:lastRenderedPageBreak", Role::hint},
    {"w:hyperlink", Role::tags},
    {"w:ins", Role::tags},
    {"w:moveTo", Role::tags},
    {"w:smartTag", Role::tags},
    {"w:customXml", Role::tags},
    {"w:sdt", Role::tags},
    {"w:sdtContent", Role::tags},
    {"w:fldSimple", Role::tags},
    {"w:dir", Role::tags},
    {"w:bdo", Role::tags},
    // Drawings: slides, diagrams, the titles of charts.
    {"a:p", Role::run_block},
    {"a:r", Role::run},
    {"a:rPr", Role::run_format},
    {"a:t", Role::run_text},
    {"a:fld", Role::field},
    {"a:pPr", Role::border},
    {"a:br", Role::border},
    {"a:endParaRPr", Role::border},
    // Charts: the names of series and categories.
    {"c:v", Role::block},
    {"c:numCache", Role::untouched},
    {"c:numLit", Role::untouched},
    // Spreadsheets: shared strings, strings in cells, and comments. Phonetic readings stay.
    {"x:si", Role::run_block},
    {"x:is", Role::run_block},
    {"x:text", Role::run_block},
    {"x:r", Role::run},
    {"x:rPr", Role::run_format},
    {"x:t", Role::run_text_spaced},
    {"x:rPh", Role::border},
    {"x:phoneticPr", Role::border},
};

Role ooxml_role(std::string_view name, std::string_view tag) {
  if (name == "w:fldChar") {
    for (const XmlAttribute& attribute : xml_attributes(tag)) {
      const std::string_view value = attribute.value.of(tag);
      if (local_name(attribute.name) != "fldCharType") continue;
      if (value == "begin") return Role::field_code;
      return value == "separate" ? Role::field_text : Role::field_end;
    }
  }
  const auto found = ooxml_roles.find(name);
  return found == ooxml_roles.end() ? Role::other : found->second;
}

// A description of a run without the parts that only spelling checkers read.
std::string format_key(std::string_view description) {
  constexpr auto for_checkers =
      std::to_array<std::string_view>({"lang", "altLang", "dirty", "err", "smtClean", "noProof"});
  const auto is_one = [&](std::string_view name) {
    return std::ranges::count(for_checkers, local_name(name)) > 0;
  };
  std::string key;
  XmlTokens tokens(description);
  for (XmlToken token; tokens.next(token);) {
    if (local_name(token.name) == "rPr") {
      for (const auto& [name, value] : xml_attributes(token.bytes))
        if (!is_one(name)) key.append(name).append(value.of(token.bytes)) += ' ';
    } else if (!is_one(token.name)) {
      key += token.bytes;
    }
  }
  return key;
}

// Names of parts are compared without case, and some programs write backslashes.
std::string normalized(std::string_view written) {
  const std::string name = escaped(in_lower_case(written), {{'\\', "/"}});
  return name.starts_with('/') ? name.substr(1) : name;
}

struct Part {
  std::string name, type;
};

// The entries to which the package gives a type, by name or extension.
std::vector<Part> parts_of(Package& package, const DocumentSettings& settings) {
  const auto is_list = [](const std::string& name) { return normalized(name) == "[content_types].xml"; };
  const auto list = std::ranges::find_if(package.names(), is_list);
  if (list == package.names().end())
    throw Error("{}: there is no [Content_Types].xml in this package: check the file or give its format",
                settings.name);
  const std::string xml = checked_xml(package.read(*list), package.settings_of(*list));
  std::map<std::string, std::string> by_name, by_ending;
  XmlTokens tokens(xml);
  for (XmlToken token; tokens.next(token);) {
    if (token.kind == XmlToken::Kind::end) continue;
    const auto value = [&](std::string_view attribute) { return xml_attribute(token.bytes, attribute); };
    if (local_name(token.name) == "Override") by_name[normalized(value("PartName"))] = value("ContentType");
    if (local_name(token.name) == "Default") by_ending[normalized(value("Extension"))] = value("ContentType");
  }
  std::vector<Part> parts;
  for (const std::string& entry : package.names()) {
    const std::string name = normalized(entry);
    const auto found = by_name.find(name);
    const std::string type =
        found != by_name.end() ? found->second : by_ending[name.substr(name.rfind('.') + 1)];
    if (!type.empty()) parts.push_back({entry, type});
  }
  return parts;
}

template <size_t n>
bool ends_in(const Part& part, const std::array<std::string_view, n>& endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return part.type.ends_with(ending); });
}

// As the words of a cell's text: borders are between them.
std::string without_numbered_characters(std::string_view name) {
  std::string words;
  while (!name.empty()) {
    const size_t size = numbered_character_at(name);
    if (size == 0) words += name[0];
    name.remove_prefix(std::max<size_t>(size, 1));
  }
  return words;
}

// The headings of tables: other parts and formulas refer to them by their text.
std::set<std::string> headings(Package& package, const std::vector<Part>& parts) {
  constexpr auto with_names =
      std::to_array<std::string_view>({"spreadsheetml.table+xml", "spreadsheetml.pivotCacheDefinition+xml"});
  std::set<std::string> names;
  for (const Part& part : parts) {
    if (!ends_in(part, with_names)) continue;
    const std::string xml = checked_xml(package.read(part.name), package.settings_of(part.name));
    XmlTokens tokens(xml);
    for (XmlToken token; tokens.next(token);) {
      if (local_name(token.name) != "tableColumn" && local_name(token.name) != "cacheField") continue;
      names.insert(without_numbered_characters(xml_attribute(token.bytes, "name")));
    }
  }
  return names;
}

}  // namespace

Document read_ooxml(std::string_view bytes, const DocumentSettings& settings) {
  constexpr auto with_text = std::to_array<std::string_view>(
      {".document.main+xml", ".template.main+xml", "word.document.macroEnabled.main+xml",
       "word.template.macroEnabledTemplate.main+xml", ".header+xml", ".footer+xml", ".footnotes+xml",
       ".endnotes+xml", ".comments+xml", ".slide+xml", ".notesSlide+xml", ".sharedStrings+xml",
       ".worksheet+xml", ".drawing+xml", ".chart+xml", ".diagramData+xml", ".diagramDrawing+xml"});
  Package package(bytes, settings);
  const std::vector<Part> parts = parts_of(package, settings);
  const std::set<std::string> fixed = headings(package, parts);
  std::vector<PackagePart> read;
  for (const Part& part : parts) {
    if (!ends_in(part, with_text)) continue;
    const XmlRules rules = {.role = ooxml_role,
                            .namespaces = ooxml_namespaces,
                            .lines = part.type.find("spreadsheetml") != std::string::npos,
                            .format_key = format_key,
                            .fixed = &fixed};
    read.push_back(
        {part.name, read_xml_blocks(package.read(part.name), package.settings_of(part.name), rules)});
  }
  const auto is_main = [](const Part& part) { return part.type.ends_with("main+xml"); };
  if (std::ranges::none_of(parts, is_main) && read.empty())
    throw Error("{}: this package contains no text of an office document: check the file or give its format",
                settings.name);
  return package_document(bytes, settings, std::move(read));
}

}  // namespace dragoman::internal
