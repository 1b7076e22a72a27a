// The content of <source> in XLIFF and of <seg> in TMX: text with codes, which stand for another format's markup.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "document/xml/paragraph.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {

struct InlineCode {
  enum class Kind {
    point,  // with everything inside
    fixed,  // the same, but its words are read as a part of the sentence
    tags,   // the element is a pair
    open,
    close,   // elements that are a pair, each with everything inside; `pair` identifies it
    border,  // its tags are
  };
  Kind kind = Kind::point;
  std::string pair = {};
};

struct InlineSettings {
  bool collapsed = false;  // white space in text is as in HTML
};

// Pairs of elements that cross others are points. Other elements' kinds are the rule's.
DocumentBlock inline_block(std::span<const XmlToken> tokens, InlineCode (*rule)(const XmlToken& tag),
                           InlineSettings settings = {});

// The bytes of tokens, which follow each other in the file.
std::string_view bytes_of(std::span<const XmlToken> tokens);

// Where the element ends whose start tag, or empty tag, is at `start`: the index after its last token.
size_t element_end(std::span<const XmlToken> tokens, size_t start);

}  // namespace dragoman::internal
