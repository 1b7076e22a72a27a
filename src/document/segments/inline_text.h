// Lines of text with inline tags, as subtitles and messages have them: tokens become runs, and runs become a segment.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

struct InlineToken {
  // A prefix is a point that stays with the word after it: the & of an access key. Fixed text comes out as the file
  // has it: a directive of a format string.
  enum class Kind { text, space, open, close, point, prefix, fixed };
  Kind kind = Kind::text;
  TextSpan place;    // in the file
  std::string text;  // of text, space and fixed text as a reader sees it; of a tag its name
};

// The part of a line that is translated: without the white space and the tags around all of its text.
struct InlineRun {
  std::vector<InlineToken> tokens;  // opening and closing tags are in pairs, which nest
  TextSpan place;                   // in the file
  bool unpaired = false;            // formatting begins or ends inside, but not both
};

// Tags without a partner on the line become points. No tokens are left if there is no text.
InlineRun inline_run(std::vector<InlineToken> tokens);

std::string plain_text(const InlineRun& run);

// One segment, with cuts for what is between the runs.
DocumentSegment joined(std::span<const InlineRun> runs, std::string_view file,
                       std::function<std::string(std::string_view)> escape);

// Without closing quotation marks and brackets at the end.
std::string_view without_closers(std::string_view text);
bool ends_with_sentence_mark(std::string_view text);  // such marks may follow it

// The tag <...> at the beginning of a text; empty: there is none. Its name consists of letters and digits.
std::string_view tag_at(std::string_view text);
InlineToken tag_token(std::string_view tag, TextSpan place);

// The character that an entity (&amp;) at the beginning of a text stands for, and its length; 0: there is none.
struct Entity {
  char32_t character = 0;
  size_t size = 0;
};
Entity entity_at(std::string_view text);

}  // namespace dragoman::internal
