// Whether CommonMark's parser finds in a segment what was written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

struct WrittenMarkdown {
  enum class Kind {
    text,
    emphasis,
    end_of_emphasis,
    strong,
    end_of_strong,
    link,
    end_of_link,
    opaque,  // is read as it is, wherever it stands: code, a tag of HTML, an image
  };
  Kind kind = Kind::text;
  std::string bytes;
  std::string_view shown = {};  // of text, without escapes
};

// The number of the first piece that is not found; pieces.size() if there is more than the pieces.
std::optional<size_t> find_difference(const std::vector<WrittenMarkdown>& pieces, bool in_cell);

}  // namespace dragoman::internal
