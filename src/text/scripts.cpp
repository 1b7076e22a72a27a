#include "text/scripts.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr char32_t first_unspaced = 0x0E00;  // no script before it is
constexpr char32_t kana_sound_mark = 0x30FC;

int32_t script_of(char32_t c) { return u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_SCRIPT); }

bool has_category(char32_t c, uint32_t mask) { return (U_GET_GC_MASK(static_cast<UChar32>(c)) & mask) != 0; }

}  // namespace

bool is_letter(char32_t c) { return has_category(c, U_GC_L_MASK); }
bool is_combining(char32_t c) { return has_category(c, U_GC_M_MASK); }
bool is_upper(char32_t c) { return u_isupper(static_cast<UChar32>(c)) != 0; }
bool is_lower(char32_t c) { return u_islower(static_cast<UChar32>(c)) != 0; }
char32_t to_upper(char32_t c) { return static_cast<char32_t>(u_toupper(static_cast<UChar32>(c))); }
char32_t to_lower(char32_t c) { return static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))); }

bool is_hangul(char32_t c) { return is_letter(c) && script_of(c) == USCRIPT_HANGUL; }

bool is_of_unspaced_script(char32_t c) {
  if (c < first_unspaced || !is_letter(c)) return false;
  if (c == kana_sound_mark) return true;
  switch (script_of(c)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_BOPOMOFO:
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
    case USCRIPT_TIBETAN:
      return true;
    default:
      return false;
  }
}

bool is_of_spaced_word(char32_t c) {
  return c == U'_' || ((is_letter(c) || is_number(c) || is_combining(c)) && !is_of_unspaced_script(c));
}

}  // namespace dragoman::internal
