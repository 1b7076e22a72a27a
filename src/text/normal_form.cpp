#include "text/normal_form.h"

#include <algorithm>

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include "base/error.h"

namespace dragoman::internal {

namespace {

std::string in_form(const icu::Normalizer2* form, UErrorCode status, std::string_view utf8) {
  std::string text;
  icu::StringByteSink<std::string> sink(&text);
  if (U_SUCCESS(status))
    form->normalizeUTF8(0, {utf8.data(), static_cast<int32_t>(utf8.size())}, sink, nullptr, status);
  CHECK(U_SUCCESS(status), "{}", u_errorName(status));
  return text;
}

// Such text is in all normal forms.
bool is_ascii(std::string_view utf8) {
  return std::ranges::all_of(utf8, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string composed(std::string_view utf8) {
  if (is_ascii(utf8)) return std::string(utf8);
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* const form = icu::Normalizer2::getNFCInstance(status);
  return in_form(form, status, utf8);
}

std::string decomposed(std::string_view utf8) {
  if (is_ascii(utf8)) return std::string(utf8);
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* const form = icu::Normalizer2::getNFDInstance(status);
  return in_form(form, status, utf8);
}

}  // namespace dragoman::internal
