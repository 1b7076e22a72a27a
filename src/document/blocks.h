// Blocks of text in a file, some of them inside others: a text box in a paragraph.
//
// A block that has changed is written anew, one that has not as the file had it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

struct DocumentBlock {
  std::string raw;                // as the file has it
  std::vector<std::string> kept;  // written anew: before each segment, and after the last
  std::vector<DocumentSegment> segments;
};

class Blocks {
 public:
  // Returns what stands for the block in the bytes around it: in the file or in any part of another block that is
  // added later. It stands there once.
  std::string add(DocumentBlock block);

  // A block that is one segment, of these bytes of XML.
  std::string add_text(std::string_view xml, std::string (*escape)(std::string_view text));

  // The file, with what stands for blocks in it.
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
