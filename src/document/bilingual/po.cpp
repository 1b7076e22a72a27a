// PO: messages with their translations, as gettext's programs keep them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/lines.h"
#include "document/bilingual/readers.h"
#include "document/messages/po_charset.h"
#include "document/messages/po_entries.h"
#include "document/messages/po_plurals.h"
#include "document/messages/po_strings.h"
#include "document/placeholders.h"

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
  const std::vector<PoEntry> entries = po_entries(file, settings);
  const auto header = std::ranges::find_if(entries, &PoEntry::is_header);
  const size_t form_of_one = header != entries.end() ? plural_forms(header->translations[0].value).of_one : 0;
  for (const PoEntry& entry : entries) {
    if (entry.is_header() || entry.is_fuzzy()) continue;
    // A form may be for 1 and for 21: then it has a directive that "One file" lacks, and is no translation of it.
    const auto add = [&](const PoField& message, const PoField& translation) {
      BilingualText text = {.source = decoded(message.value), .target = decoded(translation.value)};
      if (!entry.has_plural || find_placeholders(text.target).size() <= find_placeholders(text.source).size())
        take_trimmed(std::move(text), take);
    };
    const size_t forms = entry.translations.size();
    const size_t one = entry.has_plural ? std::min(form_of_one, forms - 1) : 0;
    add(entry.id, entry.translations[one]);
    if (entry.has_plural && (one + 1 != forms || forms == 1)) add(entry.plural_id, entry.translations.back());
  }
}

}  // namespace dragoman::internal
