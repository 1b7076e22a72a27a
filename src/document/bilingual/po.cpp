// PO: messages with their translations, as gettext's programs keep them.
#include <algorithm>
#include <string>

#include "base/lines.h"
#include "document/bilingual/readers.h"
#include "document/messages/po_charset.h"
#include "document/messages/po_entries.h"
#include "document/messages/po_plurals.h"
#include "document/messages/po_strings.h"

namespace dragoman::internal {
namespace {

std::string all_of(ByteSource& bytes) {
  std::string all;
  char block[1 << 16];
  while (const size_t size = bytes.read(block, sizeof block)) all.append(block, size);
  return all;
}

std::string decoded(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) bytes.remove_prefix(po_syntax().decode(bytes, text));
  return text;
}

std::string in_utf8(std::string file, const DocumentSettings& settings) {
  if (other_charset(file) != TextSpan()) return po_in_utf8(file, settings);
  check_utf8(file, settings);
  if (file.starts_with(byte_order_mark)) file.erase(0, byte_order_mark.size());
  return file;
}

}  // namespace

void read_translated_po(ByteSource& bytes, const DocumentSettings& settings, const TakeTranslated& take) {
  const std::string file = in_utf8(all_of(bytes), settings);
  size_t form_of_one = 0;
  for (const PoEntry& entry : po_entries(file, settings)) {
    if (entry.translations.empty()) continue;
    if (entry.is_header()) form_of_one = plural_forms(entry.translations[0].value).of_one;
    if (entry.is_header() || entry.is_fuzzy()) continue;
    const size_t one = entry.has_plural ? std::min(form_of_one, entry.translations.size() - 1) : 0;
    take_trimmed({decoded(entry.id.value), decoded(entry.translations[one].value)}, take);
    if (entry.has_plural && one + 1 != entry.translations.size())
      take_trimmed({decoded(entry.plural_id.value), decoded(entry.translations.back().value)}, take);
  }
}

}  // namespace dragoman::internal
