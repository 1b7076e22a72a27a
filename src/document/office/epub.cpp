#include <algorithm>
#include <map>
#include <set>

#include "document/office/package.h"
#include "document/readers.h"
#include "document/xml/read_blocks.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

using Role = XmlRole;

constexpr XmlNamespace epub_namespaces[] = {
    {"http://www.w3.org/1999/xhtml", "h"},
    {"http://www.daisy.org/z3986/2005/ncx/", "ncx"},
    {"http://purl.org/dc/elements/1.1/", "dc"},
};

std::map<std::string_view, Role> html_roles() {
  std::map<std::string_view, Role> roles;
  const auto set = [&](Role role, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) roles[name] = role;
  };
  set(Role::tags, {"a",    "abbr",   "acronym", "b",   "bdi", "bdo",   "big",  "button", "cite", "del",
                   "dfn",  "em",     "font",    "i",   "ins", "label", "mark", "q",      "s",    "small",
                   "span", "strike", "strong",  "sub", "sup", "time",  "tt",   "u",      "var"});
  set(Role::untouched, {"code", "kbd", "math", "pre", "ruby", "samp", "script", "style", "svg", "textarea"});
  set(Role::other,
      {"audio", "canvas", "iframe", "img", "input", "link", "map", "meta", "object", "select", "video"});
  set(Role::border, {"br", "hr"});
  set(Role::hint, {"wbr"});
  return roles;
}

// Elements that are not in the table are blocks, with text or other blocks in them.
Role html_role(std::string_view name, std::string_view tag) {
  static const std::map<std::string_view, Role> roles = html_roles();
  if (name.find(':') != std::string_view::npos && !name.starts_with("h:")) return Role::other;
  if (xml_attribute(tag, "translate") == "no" || xml_attribute(tag, "class") == "notranslate")
    return Role::untouched;
  const auto found = roles.find(local_name(name));
  return found == roles.end() ? Role::block : found->second;
}

Role contents_role(std::string_view name, std::string_view) {
  if (name == "ncx:docAuthor") return Role::untouched;
  return name == "ncx:text" ? Role::block : Role::other;
}

Role metadata_role(std::string_view name, std::string_view) {
  return name == "dc:title" || name == "dc:description" || name == "dc:subject" ? Role::block : Role::other;
}

constexpr std::string_view epub_attributes[] = {"alt", "title", "aria-label"};
constexpr XmlRules epub_html = {
    .role = html_role, .namespaces = epub_namespaces, .collapsed = true, .attributes = epub_attributes};
constexpr XmlRules contents = {.role = contents_role, .namespaces = epub_namespaces, .collapsed = true};
constexpr XmlRules metadata = {.role = metadata_role, .namespaces = epub_namespaces, .collapsed = true};

// The file with its language replaced by the target language: in a page the root's, in metadata the first one.
std::string with_language(std::string_view xml, const std::string& language) {
  std::string changed;
  XmlTokens tokens(xml);
  bool in_language = false, done = false;
  for (XmlToken token; tokens.next(token);) {
    std::string bytes(token.bytes);
    if (!done && token.kind == XmlToken::Kind::start && local_name(token.name) == "html") {
      for (const std::string_view name : {"lang", "xml:lang"})
        if (xml_attribute_place(bytes, name)) bytes = with_xml_attribute(bytes, name, language);
      done = true;
    }
    if (!done && in_language && token.kind == XmlToken::Kind::text) {
      bytes = escape_xml(language);
      done = true;
    }
    in_language = token.kind == XmlToken::Kind::start && token.name == "dc:language";
    changed += bytes;
  }
  return changed;
}

Document in_language(Document document, const std::string& language) {
  if (language.empty()) return document;
  return with_change(std::move(document),
                     [language](const std::string& written) { return with_language(written, language); });
}

std::string attribute_of(const std::string& xml, std::string_view element, std::string_view attribute) {
  XmlTokens tokens(xml);
  for (XmlToken token; tokens.next(token);)
    if (token.is_tag() && local_name(token.name) == element && token.kind != XmlToken::Kind::end)
      return xml_attribute(token.bytes, attribute);
  return "";
}

// A reference in a file as the name of an entry: "../text/one%20two.xhtml" in "OPS/package.opf".
std::string entry_of(std::string_view reference, std::string_view file) {
  std::string decoded;
  for (size_t i = 0; i < reference.size(); ++i) {
    const auto digit = [&](size_t at) {
      return std::string_view("0123456789abcdef")
          .find(at < reference.size() ? static_cast<char>(reference[at] | 32) : 'x');
    };
    const bool coded = reference[i] == '%' && digit(i + 1) < 16 && digit(i + 2) < 16;
    decoded += coded ? static_cast<char>(digit(i + 1) * 16 + digit(i + 2)) : reference[i];
    i += coded ? 2 : 0;
  }
  std::string entry(file.substr(0, file.rfind('/') + 1));
  for (std::string_view rest = decoded; !rest.empty();) {
    const std::string_view step = rest.substr(0, std::min(rest.find('/'), rest.size() - 1) + 1);
    if (step == "../")
      entry.erase(entry.size() < 2 ? 0 : entry.rfind('/', entry.size() - 2) + 1);
    else if (step != "./")
      entry += step;
    rest.remove_prefix(step.size());
  }
  return entry;
}

}  // namespace

Document read_epub(std::string_view bytes, const DocumentSettings& settings) {
  Package package(bytes, settings);
  const auto xml_of = [&](const std::string& name) {
    return checked_xml(package.read(name), package.settings_of(name));
  };
  const std::string book = attribute_of(xml_of("META-INF/container.xml"), "rootfile", "full-path");
  const std::string package_file = xml_of(book);
  std::vector<PackagePart> parts;
  std::set<std::string> read;
  const auto add = [&](const std::string& name, const XmlRules& rules) {
    const DocumentSettings of_part = package.settings_of(name);
    parts.push_back({name, in_language(read_xml_blocks(package.read(name), of_part, rules), settings.to)});
  };
  add(book, metadata);
  XmlTokens tokens(package_file);
  for (XmlToken token; tokens.next(token);) {
    if (local_name(token.name) != "item" || token.kind == XmlToken::Kind::end) continue;
    const std::string type = xml_attribute(token.bytes, "media-type");
    const std::string name = entry_of(xml_attribute(token.bytes, "href"), book);
    if (!package.contains(name) || !read.insert(name).second) continue;
    if (type == "application/xhtml+xml") add(name, epub_html);
    if (type == "application/x-dtbncx+xml") add(name, contents);
  }
  return package_document(bytes, settings, std::move(parts));
}

}  // namespace dragoman::internal
