// LanguageIdentifier: which language a line is written in. serve/fasttext.h opens one, where the build has fastText.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman::internal {

class LanguageIdentifier {
 public:
  virtual ~LanguageIdentifier() = default;
  // Of all languages that it knows, by their labels. The line is valid UTF-8. From any thread.
  virtual std::vector<std::pair<std::string, double>> probabilities(const std::string& line) const = 0;
};

// A text as such a line: its beginning, if it is long, up to a whole character.
std::string line_to_identify(std::string_view text);

}  // namespace dragoman::internal
