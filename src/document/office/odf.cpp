#include <map>

#include "base/error.h"
#include "document/office/package.h"
#include "document/readers.h"
#include "document/xml/read_blocks.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

using Role = XmlRole;

constexpr XmlNamespace odf_namespaces[] = {
    {"urn:oasis:names:tc:opendocument:xmlns:text:1.0", "text"},
    {"urn:oasis:names:tc:opendocument:xmlns:table:1.0", "table"},
    {"urn:oasis:names:tc:opendocument:xmlns:presentation:1.0", "presentation"},
    {"urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0", "svg"},
};

// Notes, comments and images are points that may contain paragraphs. Fields have their text as content.
const std::map<std::string_view, Role> odf_roles = {
    {"text:p", Role::block},
    {"text:h", Role::block},
    {"text:index-title-template", Role::block},
    {"presentation:header-decl", Role::block},
    {"presentation:footer-decl", Role::block},
    {"svg:title", Role::block},
    {"svg:desc", Role::block},
    {"text:span", Role::tags},
    {"text:a", Role::tags},
    {"text:meta", Role::tags},
    {"text:page-number", Role::tags},
    {"text:page-count", Role::tags},
    {"text:sequence", Role::tags},
    {"text:bookmark-ref", Role::tags},
    {"text:reference-ref", Role::tags},
    {"text:sequence-ref", Role::tags},
    {"text:note-ref", Role::tags},
    {"text:date", Role::tags},
    {"text:time", Role::tags},
    {"text:title", Role::tags},
    {"text:chapter", Role::tags},
    {"text:author-name", Role::tags},
    {"text:placeholder", Role::tags},
    {"text:text-input", Role::tags},
    {"text:user-field-get", Role::tags},
    {"text:variable-get", Role::tags},
    {"text:variable-set", Role::tags},
    {"text:conditional-text", Role::tags},
    {"text:database-display", Role::tags},
    {"text:s", Role::space},
    {"text:tab", Role::border},
    {"text:line-break", Role::border},
    {"text:soft-page-break", Role::hint},
    {"text:tracked-changes", Role::untouched},
};

// A cell shows its paragraph only if its value is text; otherwise the program generates it from the value or formula.
bool is_computed(std::string_view cell) {
  for (const XmlAttribute& attribute : xml_attributes(cell)) {
    const std::string_view value = attribute.value.of(cell);
    if (local_name(attribute.name) == "formula") return true;
    if (local_name(attribute.name) == "value-type" && value != "string") return true;
  }
  return false;
}

Role odf_role(std::string_view name, std::string_view tag) {
  if (name == "table:table-cell" && is_computed(tag)) return Role::untouched;
  const auto found = odf_roles.find(name);
  return found == odf_roles.end() ? Role::other : found->second;
}

constexpr XmlRules odf_rules = {.role = odf_role, .namespaces = odf_namespaces, .collapsed = true};

bool names_part(std::string_view entry, std::string_view name) {
  return entry == name || (entry.ends_with(name) && entry[entry.size() - name.size() - 1] == '/');
}

}  // namespace

Document read_odf(std::string_view bytes, const DocumentSettings& settings) {
  if (!bytes.starts_with("PK")) return read_xml_blocks(bytes, settings, odf_rules);
  Package package(bytes, settings);
  const std::string manifest = "META-INF/manifest.xml";
  if (package.contains(manifest) && package.read(manifest).find("encryption-data") != std::string::npos)
    throw Error("{}: this document is encrypted: save it without a password", settings.name);
  std::vector<PackagePart> parts;
  for (const std::string& name : package.names())  // also those of embedded charts
    if (names_part(name, "content.xml") || names_part(name, "styles.xml"))
      parts.push_back({name, read_xml_blocks(package.read(name), package.settings_of(name), odf_rules)});
  if (parts.empty())
    throw Error("{}: this package contains no OpenDocument text: check the file or give its format",
                settings.name);
  return package_document(bytes, settings, std::move(parts));
}

}  // namespace dragoman::internal
