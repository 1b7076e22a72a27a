// Tags whose contents are not to be translated, which clients name in a list ("ignore_tags"): marked for the reader of
// documents before the translation, and unmarked after it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

class IgnoredTags {
 public:
  explicit IgnoredTags(const std::vector<std::string>& names);  // each may be several, separated by commas

  bool empty() const { return names_.empty(); }
  std::string marked(std::string_view text);  // once; tags that say themselves whether to translate stay
  std::string unmarked(std::string text) const;

 private:
  std::vector<std::string> names_;
  std::string mark_;  // that no text has
};

}  // namespace dragoman::internal
