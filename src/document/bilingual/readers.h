// The readers of files with translations.
#pragma once

#include <functional>

#include "base/bytes.h"
#include "document/bilingual.h"

namespace dragoman::internal {

using TakeTranslated = std::function<void(BilingualText text)>;

void read_translated_tmx(ByteSource& bytes, const DocumentSettings& settings, const TakeTranslated& take);
void read_translated_xliff(ByteSource& bytes, const DocumentSettings& settings, const TakeTranslated& take);
void read_translated_po(ByteSource& bytes, const DocumentSettings& settings, const TakeTranslated& take);

// Takes the text, trimmed, unless a side is empty.
void take_trimmed(BilingualText text, const TakeTranslated& take);

}  // namespace dragoman::internal
