#include "text/normal_form.h"

#include <algorithm>

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include "base/error.h"

namespace dragoman::internal {

std::string composed(std::string_view utf8) {
  if (std::ranges::all_of(utf8, [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return std::string(utf8);
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* const form = icu::Normalizer2::getNFCInstance(status);
  std::string text;
  icu::StringByteSink<std::string> sink(&text);
  if (U_SUCCESS(status))
    form->normalizeUTF8(0, {utf8.data(), static_cast<int32_t>(utf8.size())}, sink, nullptr, status);
  CHECK(U_SUCCESS(status), "{}", u_errorName(status));
  return text;
}

}  // namespace dragoman::internal
