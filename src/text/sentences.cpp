#include "text/sentences.h"

#include <memory>

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include "base/error.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// The length in bytes of leading white space.
size_t leading_space(std::string_view text) {
  size_t size = 0;
  for (size_t next = 0; size < text.size(); size = next) {
    UChar32 c;
    U8_NEXT(text.data(), next, text.size(), c);
    if (!is_space(static_cast<char32_t>(c))) break;
  }
  return size;
}

SentencePart without_space(std::string_view text) {
  auto end = static_cast<int32_t>(text.size());
  for (int32_t before = end; end > 0; end = before) {
    UChar32 c;
    U8_PREV(text.data(), 0, before, c);
    if (!is_space(static_cast<char32_t>(c))) break;
  }
  return {text.substr(0, static_cast<size_t>(end)), text.substr(static_cast<size_t>(end))};
}

}  // namespace

std::vector<SentencePart> split_sentences(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> boundaries(
      icu::BreakIterator::createSentenceInstance(icu::Locale::getRoot(), status));
  CHECK(U_SUCCESS(status), "{}", u_errorName(status));
  text.remove_prefix(leading_space(text));
  UText utf8 = UTEXT_INITIALIZER;
  utext_openUTF8(&utf8, text.data(), static_cast<int64_t>(text.size()), &status);
  boundaries->setText(&utf8, status);
  CHECK(U_SUCCESS(status), "{}", u_errorName(status));

  std::vector<SentencePart> parts;
  int32_t begin = boundaries->first();
  for (int32_t end = boundaries->next(); end != icu::BreakIterator::DONE; end = boundaries->next()) {
    parts.push_back(without_space(text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin))));
    begin = end;
  }
  utext_close(&utf8);
  return parts;
}

}  // namespace dragoman::internal
