// A block of an XML file that is being read: tags, text, and elements that are one item each become its paragraph.
#pragma once

#include <string>
#include <string_view>

#include "document/paragraph.h"
#include "document/run.h"
#include "document/xml.h"
#include "document/xml_rules.h"

namespace dragoman::internal {

class BlockContent {
 public:
  BlockContent(const XmlRules& rules, bool has_runs);

  bool in_run() const { return run_.is_open(); }
  bool in_text() const { return run_.in_text(); }
  bool in_tags() const { return tags_ > 0; }

  void open_run(const XmlToken& tag) { run_.open(tag); }
  void close_run();
  void open_text(const XmlToken& tag, bool spaced) { run_.open_text(tag, spaced); }
  void close_text() { run_.close_text(); }
  void open_tags(const XmlToken& tag, std::string bytes);
  void close_tags(const XmlToken& tag);
  void border(std::string bytes) { paragraph_.border(std::move(bytes)); }

  void text(const std::string& text);
  // An element with everything inside, or what is neither a tag nor text.
  void add(XmlRole role, const std::string& bytes);

  std::string words() const { return paragraph_.words(); }
  DocumentBlock finish(std::string raw) &&;

 private:
  void add_field(const std::string& element);
  bool add_to_field(XmlRole role, const std::string& item);
  void end_field_code();

  const XmlRules* rules_;
  bool has_runs_;
  Paragraph paragraph_;
  size_t tags_ = 0;
  XmlRun run_;
  // The description of a field, as far as it was read, and how many fields it is inside.
  std::string field_code_;
  size_t field_codes_ = 0;
};

}  // namespace dragoman::internal
