#include "document/glossary/entry.h"

#include "base/error.h"
#include "text/unicode.h"

namespace dragoman::internal {

std::string checked_term(const std::string& text, const std::string& path, int64_t line) {
  const std::u32string points = code_points(text);
  std::string term;
  for (const std::u32string_view word : split_words(points)) {
    if (!term.empty()) term += ' ';
    for (const char32_t c : word) term += to_utf8(c);
  }
  if (points.size() > max_term_length)
    throw Error("{}:{}: has a term of {} characters, the limit is {}", path, line, points.size(),
                max_term_length);
  return term;
}

}  // namespace dragoman::internal
