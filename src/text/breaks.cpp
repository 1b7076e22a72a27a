#include "text/breaks.h"

#include <array>
#include <memory>

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>

#include "base/error.h"

namespace dragoman::internal {
namespace {

using Breaks = std::unique_ptr<icu::BreakIterator>;

Breaks made(BreakKind kind) {
  using icu::BreakIterator;
  const auto make = kind == BreakKind::word   ? BreakIterator::createWordInstance
                    : kind == BreakKind::line ? BreakIterator::createLineInstance
                                              : BreakIterator::createSentenceInstance;
  UErrorCode status = U_ZERO_ERROR;
  Breaks breaks(make(icu::Locale::getRoot(), status));
  CHECK(U_SUCCESS(status), "{}", u_errorName(status));
  return breaks;
}

}  // namespace

std::vector<size_t> breaks_in(std::string_view utf8, BreakKind kind) {
  static thread_local std::array<Breaks, 3> all;  // expensive to make
  Breaks& breaks = all[static_cast<size_t>(kind)];
  if (!breaks) breaks = made(kind);
  UErrorCode status = U_ZERO_ERROR;
  UText text = UTEXT_INITIALIZER;
  utext_openUTF8(&text, utf8.data(), static_cast<int64_t>(utf8.size()), &status);
  breaks->setText(&text, status);
  CHECK(U_SUCCESS(status), "{}", u_errorName(status));
  std::vector<size_t> ends;
  for (int32_t end = breaks->next(); end != icu::BreakIterator::DONE; end = breaks->next())
    ends.push_back(static_cast<size_t>(end));
  utext_close(&text);
  return ends;
}

}  // namespace dragoman::internal
