#include "text/sentences.h"

#include <memory>

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>

#include "base/error.h"

namespace dragoman {
namespace {

constexpr std::string_view white = " \t\n\v\f\r";

SentencePart without_space(std::string_view text) {
  const size_t end = text.find_last_not_of(white) + 1;  // npos + 1 is 0
  return {text.substr(0, end), text.substr(end)};
}

}  // namespace

std::vector<SentencePart> split_sentences(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> boundaries(
      icu::BreakIterator::createSentenceInstance(icu::Locale::getRoot(), status));
  CHECK(U_SUCCESS(status), "{}", u_errorName(status));
  text.remove_prefix(std::min(text.find_first_not_of(white), text.size()));
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

}  // namespace dragoman
