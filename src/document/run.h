// A run of an office file: text with a format of its own.
#pragma once

#include <string>
#include <string_view>

#include "document/marked_text.h"
#include "document/xml.h"

namespace dragoman::internal {

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
  RunFormat format() const { return {open_ + description_ + text_open_, text_close_ + close_}; }

  // A run of the same format with only these bytes.
  std::string with(std::string_view bytes) {
    has_items_ = true;
    return open_ + description_ + std::string(bytes) + close_;
  }
  std::string bare() const { return open_ + description_ + close_; }

  XmlRun() = default;

 private:
  explicit XmlRun(const XmlToken& tag) : open_(tag.bytes), close_(closing(tag)) {}

  static std::string closing(const XmlToken& tag) { return "</" + std::string(tag.name) + ">"; }

  std::string open_, close_, description_, text_open_, text_close_;
  bool has_items_ = false;
};

}  // namespace dragoman::internal
