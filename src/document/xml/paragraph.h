// A paragraph as text with tags in it, which becomes segments with marks.
//
//   Paragraph paragraph({.escape = escape_xml});
//   const size_t bold = paragraph.format("bold", {"<w:r><w:rPr><w:b/></w:rPr><w:t>", "</w:t></w:r>"});
//   paragraph.text("Fish & ", bold);
//   paragraph.open("<w:hyperlink>", "hyperlink");
//   paragraph.text("chips", bold);
//   paragraph.close("</w:hyperlink>", "hyperlink");
//   blocks.add(std::move(paragraph).block(raw));
//
// The most frequent format of a segment is that of its words outside all tags, and so between each pair of tags; words
// of another format are a mark. Tags that do not nest, or have a border between them, are borders too. White space and
// tags around all words stay outside the segment.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"
#include "document/xml/blocks.h"
#include "document/xml/marked_text.h"

namespace dragoman::internal {

class Paragraph {
 public:
  struct Settings {
    std::string (*escape)(std::string_view text) = nullptr;
    bool collapsed = false;  // a stretch of white space is one space, as in HTML
  };
  explicit Paragraph(Settings settings) : settings_(settings) {}

  // The number of the format with this key; the first format with a key is the one written. 0: nothing around text.
  size_t format(const std::string& key, RunFormat format);

  void text(std::string text, size_t format = 0);
  void symbol(std::string bytes, std::string text);  // text that has a tag of its own
  void open(std::string bytes, std::string name);
  void close(std::string bytes, std::string name);
  void fixed(std::string bytes, std::string_view words);  // comes out as it is, but is read with the sentence
  void point(std::string bytes);  // part of an opening tag if nothing is between the two
  void border(std::string bytes);

  std::string words() const;  // all text
  DocumentBlock block(std::string raw) &&;

 private:
  void tear();
  std::string written(const ParagraphItem& item) const;
  void keep(size_t begin, size_t end);
  void add_segment(size_t begin, size_t end);
  std::string separate_edges(size_t begin, size_t first, size_t last, size_t end);

  Settings settings_;
  std::vector<ParagraphItem> items_;
  std::vector<size_t> open_;
  std::vector<RunFormat> formats_ = {{}};
  std::map<std::string, size_t> format_numbers_;
  DocumentBlock block_ = {.raw = {}, .kept = {""}, .segments = {}};
};

}  // namespace dragoman::internal
