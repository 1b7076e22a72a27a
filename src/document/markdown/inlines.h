// The inline markup of a block of Markdown, with its bytes in the file.
//
// cmark gives the positions of blocks, but not reliably those of what is inside them. So its tree is walked in step
// with the source: each node determines what the next bytes must be.
#pragma once

#include <cmark.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/html/text.h"
#include "text/spans.h"

namespace dragoman::internal {

struct MarkdownInline {
  enum class Kind {
    text,
    reference,
    line_end,
    hard_break,
    code,
    html,
    address,
    open,
    close,
    open_image,
    close_image
  };
  Kind kind;
  TextSpan bytes = {};       // in the file; each begins where the one before it ends
  std::string decoded = {};  // of a reference or code
  std::string rewritten =
      {};  // of the end of [label] and [label][]: ][label], as the translated text is not a label
  std::string_view name = {};  // of a pair
};

class MarkdownInlines {
 public:
  MarkdownInlines(std::string_view source, HtmlReferences& references)
      : source_(source), references_(references) {}

  // Of a block inside this many block quotes, from `begin` on; none if the source does not match the tree. `skipped`:
  // text that the tree has before it.
  std::optional<std::vector<MarkdownInline>> walk(cmark_node* block, size_t begin, size_t quotes,
                                                  std::string_view skipped = {});

 private:
  using Kind = MarkdownInline::Kind;

  bool enter(cmark_node* node);
  bool leave(cmark_node* node);
  bool text(std::string_view decoded);
  bool line_end(Kind kind);
  bool code(std::string_view shown);
  bool html(std::string_view literal);
  bool address();
  bool open(Kind kind, std::string_view begin, std::string_view name);
  bool close(Kind kind, std::string_view end, std::string_view name);
  bool add(Kind kind, size_t end, std::string_view name = {});
  bool starts_with(std::string_view bytes) const { return source_.substr(at_).starts_with(bytes); }

  const std::string_view source_;
  HtmlReferences& references_;
  size_t at_ = 0, quotes_ = 0;
  std::string_view skipped_;
  std::vector<MarkdownInline> found_;
  std::vector<size_t> links_;  // the open ones: where their texts begin
};

}  // namespace dragoman::internal
