#include "document/encodings.h"

#include <algorithm>
#include <memory>

#include <unicode/ucnv.h>
#include <unicode/unistr.h>

#include "base/error.h"
#include "base/lines.h"
#include "text/unicode.h"

namespace dragoman::internal {

bool is_same_encoding(std::string_view a, std::string_view b) {
  return ucnv_compareNames(std::string(a).c_str(), std::string(b).c_str()) == 0;
}

std::string converted_to_utf8(std::string_view bytes, const std::string& encoding,
                              const DocumentSettings& settings) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UConverter, decltype(&ucnv_close)> converter(ucnv_open(encoding.c_str(), &status),
                                                                     ucnv_close);
  if (U_FAILURE(status))
    throw Error("{}: unsupported encoding \"{}\": convert the file to UTF-8", settings.name,
                repaired(encoding));
  ucnv_setToUCallBack(converter.get(), UCNV_TO_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &status);
  icu::UnicodeString text;
  UChar* const units = text.getBuffer(static_cast<int32_t>(bytes.size()));
  if (units == nullptr) throw Error("{}: out of memory while reading the file", settings.name);
  const int32_t size = ucnv_toUChars(converter.get(), units, static_cast<int32_t>(bytes.size()), bytes.data(),
                                     static_cast<int32_t>(bytes.size()), &status);
  text.releaseBuffer(U_SUCCESS(status) ? size : 0);
  if (U_FAILURE(status))
    throw Error("{}: the file declares {} but is not in this encoding: convert it to UTF-8", settings.name,
                encoding);
  std::string utf8;
  text.toUTF8String(utf8);
  if (utf8.starts_with(byte_order_mark)) utf8.erase(0, byte_order_mark.size());
  return utf8;
}

Document read_from_other_bytes(Document document, std::string_view file) {
  std::vector<std::string> originals;
  for (const DocumentSegment& segment : document.segments) originals.push_back(segment.original);
  document.write = [write = std::move(document.write), originals = std::move(originals),
                    file = std::string(file)](std::span<const std::string> rendered) {
    return std::ranges::equal(rendered, originals) ? file : write(rendered);
  };
  if (document.write_with_origins)
    document.write_with_origins = [write = std::move(document.write_with_origins), file = std::string(file)](
                                      std::span<const std::string> rendered,
                                      std::span<const TranslationOrigin> origins) {
      return rendered.empty() ? file : write(rendered, origins);
    };
  return document;
}

}  // namespace dragoman::internal
