// HTML as tags, text and comments, by the standard's rules for its tokens, with their bytes in the file.
//
// The standard's tree is not built: an implied or ignored tag has no bytes, and gumbo's takes seconds and gigabytes for
// 100 kB of nested <div>. Templates of PHP, ASP and Jinja are read as comments.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/spans.h"

namespace dragoman::internal {

struct HtmlToken {
  enum class Kind { text, start, end, comment };
  Kind kind;
  std::string_view bytes;
  std::string name = {};  // of a tag, in lower case
  bool empty = false;     // of a start tag: it ends with />
  bool literal = false;   // of text: without character references
  bool rcdata = false;    // of text: the content of an element that has such references, but no tags
};

class HtmlLexer {
 public:
  // XML has empty elements of any name, and CDATA sections.
  HtmlLexer(std::string_view bytes, bool xml) : bytes_(bytes), xml_(xml) {}
  // Of text without tags, whose only markup is that of templates.
  static HtmlLexer of_rcdata(std::string_view text) {
    HtmlLexer lexer(text, false);
    lexer.has_tags_ = false;
    return lexer;
  }

  std::optional<HtmlToken> next();

  // After a start tag: its content is text up to its end tag.
  void read_raw_text(std::string_view name, bool literal);
  // From here CDATA sections are read, or no longer.
  void set_foreign(bool foreign) { foreign_ = foreign; }

  size_t at() const { return at_; }  // where the next token begins

 private:
  // Where each was last searched for without success, so as not to search again.
  enum Closer { comment, php, asp, jinja_statement, jinja_comment, cdata, closers };

  std::optional<size_t> markup_end(size_t from);
  std::optional<size_t> after(Closer closer, size_t from);
  size_t tag_end(size_t from);
  HtmlToken tag(size_t end);
  HtmlToken raw_text();

  std::string_view bytes_;
  const bool xml_;
  bool has_tags_ = true, foreign_ = false, raw_literal_ = false;
  size_t at_ = 0;
  std::string raw_name_;  // not empty: the element whose content is text
  bool absent_[closers] = {};
};

}  // namespace dragoman::internal
