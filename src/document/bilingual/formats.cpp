#include <algorithm>
#include <array>
#include <string_view>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/signals.h"
#include "document/bilingual.h"
#include "document/bilingual/readers.h"

namespace dragoman::internal {
namespace {

struct BilingualFormat {
  std::string_view ending;
  void (*read)(ByteSource& bytes, const DocumentSettings& settings, const TakeTranslated& take);
};
constexpr BilingualFormat bilingual_formats[] = {{".tmx", read_translated_tmx},
                                                 {".xlf", read_translated_xliff},
                                                 {".xliff", read_translated_xliff},
                                                 {".po", read_translated_po}};

const BilingualFormat* format_of(const std::string& path) {
  const std::string ending = uncompressed_name(path).extension().string();
  const auto found = std::ranges::find_if(bilingual_formats, [&](const BilingualFormat& format) {
    return same_ignoring_case(format.ending, ending);
  });
  return found == std::end(bilingual_formats) ? nullptr : found;
}

}  // namespace

void take_trimmed(BilingualText text, const TakeTranslated& take) {
  for (std::string* side : {&text.source, &text.target}) *side = std::string(trimmed(*side).of(*side));
  if (!text.source.empty() && !text.target.empty()) take(std::move(text));
}

bool is_bilingual_file(const std::string& path) { return format_of(path) != nullptr; }

void read_bilingual(const std::string& path, const DocumentSettings& settings,
                    const std::function<void(BilingualText text)>& take) {
  const BilingualFormat* const format = format_of(path);
  if (format == nullptr) throw UsageError("{}: the name must end in .tmx, .xlf, .xliff or .po", path);
  try {
    format->read(*open_bytes(path), settings, take);
  } catch (const Stopped&) {
    throw;
  } catch (const Error& error) {
    const std::string_view what = error.what();
    if (what.starts_with(settings.name)) throw;
    throw Error("{} {}", settings.name, what);
  }
}

}  // namespace dragoman::internal
