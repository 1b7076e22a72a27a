// A block of an XML file that is being read: tags, text, and elements that are one item each become its paragraph.
#pragma once

#include <string>
#include <string_view>

#include "document/xml/marked_text.h"
#include "document/xml/paragraph.h"
#include "document/xml/rules.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {

// A run of an office file: text with a format of its own.
class XmlRun {
 public:
  bool is_open() const { return !open_.empty(); }
  bool in_text() const { return !text_open_.empty(); }
  bool is_bare() const { return !has_items_; }

  void open(const XmlToken& tag) { *this = XmlRun(tag); }
  void describe(std::string_view description) { description_ += description; }
  void open_text(const XmlToken& tag, bool spaced) {
    has_items_ = true;
    text_open_ = spaced ? with_xml_attribute(tag.bytes, "xml:space", "preserve") : std::string(tag.bytes);
    text_close_ = closing(tag);
  }
  void close_text() { text_open_.clear(); }

  const std::string& description() const { return description_; }
  // Of what an item of it copies.
  size_t size() const {
    return open_.size() + description_.size() + text_open_.size() + text_close_.size() + close_.size();
  }
  RunFormat format() const { return {open_ + description_ + text_open_, text_close_ + close_}; }

  // A run of the same format with only these bytes.
  std::string with(std::string_view bytes) {
    has_items_ = true;
    return open_ + description_ + std::string(bytes) + close_;
  }

  XmlRun() = default;

 private:
  explicit XmlRun(const XmlToken& tag) : open_(tag.bytes), close_(closing(tag)) {}

  static std::string closing(const XmlToken& tag) { return "</" + std::string(tag.name) + ">"; }

  std::string open_, close_, description_, text_open_, text_close_;
  bool has_items_ = false;
};

// The size of _x000D_ or the like, a character written as its number, at the beginning of a spreadsheet's text; else 0.
size_t numbered_character_at(std::string_view text);

// What a file may still have of copies of what describes its runs: each item of a run and each change of format has
// one, and a file that is made for it would fill the memory.
struct FormatBudget {
  std::string file;  // its name, for the error
  size_t bytes;

  void spend(size_t copied);
};

class BlockContent {
 public:
  // The budget must outlive it.
  BlockContent(const XmlRules& rules, bool has_runs, FormatBudget& budget);

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
  FormatBudget* budget_;
  Paragraph paragraph_;
  size_t tags_ = 0;
  XmlRun run_;
  // The description of a field, as far as it was read, and how many fields it is inside.
  std::string field_code_;
  size_t field_codes_ = 0;
};

}  // namespace dragoman::internal
