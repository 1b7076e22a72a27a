#include "text/languages.h"

#include "base/error.h"

namespace dragoman::internal {

std::vector<std::string> Languages::names() const {
  std::vector<std::string> names;
  for (const auto& [name, token] : tokens) names.push_back(name);
  return names;
}

void SourceFrame::add_to(std::vector<int32_t>& text) const {
  text.insert(text.begin(), before.begin(), before.end());
  text.insert(text.end(), after.begin(), after.end());
}

StartTokens::StartTokens(std::vector<int32_t> tokens) : tokens_(std::move(tokens)) {
  CHECK(!tokens_.empty(), "a decoder must read something");
}

}  // namespace dragoman::internal
