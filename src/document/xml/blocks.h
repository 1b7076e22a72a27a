// Blocks of text in a file, some of them inside others: a text box in a paragraph.
//
// A changed block is rewritten, an unchanged one is written as the file had it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

struct DocumentBlock {
  std::string raw;                // as the file has it
  std::vector<std::string> kept;  // rewritten: before each segment, and after the last
  std::vector<DocumentSegment> segments;
};

class Blocks {
 public:
  // Returns a marker to put in the block's place in the bytes around it, once: in the file or in any part of another
  // block that is added later.
  std::string add(DocumentBlock block);

  // A block that is one segment, of these bytes of XML. They stay as they are if an entity is among them.
  std::string add_text(std::string_view xml, std::string (*escape)(std::string_view text));

  size_t segments() const { return segments_.size(); }  // of the blocks so far

  // The file, with markers in place of its blocks.
  Document finish(std::string file) &&;

 private:
  struct Written {
    std::string raw;
    std::vector<std::string> kept, originals;
    size_t first;  // of the document's segments
  };

  std::vector<Written> blocks_;
  std::vector<DocumentSegment> segments_;
};

}  // namespace dragoman::internal
