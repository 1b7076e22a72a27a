// Tags whose contents are not to be translated, which clients name in a list ("ignore_tags"): marked for the reader of
// documents before the translation, and unmarked after it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// Of all texts of a request.
class IgnoredTags {
 public:
  // Each may be several, separated by commas. A ServeError where they are more than some hundred.
  explicit IgnoredTags(const std::vector<std::string>& names);

  struct MarkedText {
    std::string text;
    std::string mark;  // that the unmarked text has not; empty: there are no names
  };
  MarkedText marked(std::string_view text) const;  // tags that say themselves whether to translate stay
  static std::string unmarked(std::string_view text, std::string_view mark);

 private:
  std::set<std::string, std::less<>> names_;
};

}  // namespace dragoman::internal
