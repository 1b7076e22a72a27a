#include "confidence/negation.h"

#include <algorithm>
#include <map>

#include "text/scripts.h"
#include "text/sentence_rules.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

const std::map<std::string, NegationWords>& all_negation_words() {
  static const std::map<std::string, NegationWords> all = {
      {"en",
       {{U"not", U"cannot", U"never", U"nobody", U"nothing", U"nowhere", U"-n't"},
        {U"no",   U"none",   U"neither", U"nor",     U"without", U"un-",    U"in-",    U"im-",      U"non-",
         U"dis-", U"fail-",  U"hardly",  U"only",    U"but",     U"just",   U"little", U"few",      U"any-",
         U"ever", U"-less",  U"mis-",    U"anti-",   U"lack-",   U"refus-", U"avoid-", U"prevent-", U"stop-",
         U"deny", U"denied", U"isn't",   U"instead", U"until",   U"than",   U"worse",  U"bad"}}},
      {"fr",
       {{U"pas", U"jamais", U"aucun", U"aucune", U"nulle"},
        {U"ne",         U"n'-",     U"rien",  U"personne", U"sans",   U"ni",    U"non",   U"non-",
         U"impossible", U"in-",     U"im-",   U"ir-",      U"il-",    U"dé-",   U"sauf",  U"plus",
         U"peu",        U"que",     U"guère", U"échec-",   U"échou-", U"seul-", U"juste", U"refus-",
         U"évit-",      U"empêch-", U"mal",   U"manqu-",   U"faute"}}},
      {"de",
       {{U"nicht", U"nichts", U"nie", U"niemals", U"niemand-", U"kein-", U"nirgend-"},
        {U"ohne", U"weder", U"nein", U"un-", U"-los", U"fehl-", U"kaum", U"nur", U"außer", U"wenig-", U"erst",
         U"miss-", U"verbot-", U"verhinder-", U"vermeid-", U"weiger-", U"bloß"}}},
      {"es",
       {{U"no", U"nunca", U"jamás", U"nadie", U"ningun-", U"ningún"},
        {U"nada", U"sin", U"ni", U"tampoco", U"imposible", U"in-", U"im-", U"des-", U"sólo", U"solo",
         U"apenas", U"falta", U"fallo", U"error", U"evit-"}}},
      {"it",
       {{U"non", U"mai", U"nessun-"},
        {U"niente", U"nulla", U"no", U"senza", U"né", U"neanche", U"impossibile", U"in-", U"im-", U"dis-",
         U"solo", U"appena", U"manc-", U"evit-"}}},
      {"nl",
       {{U"niet", U"nooit", U"niemand", U"geen", U"nergens"},
        {U"niets", U"niks", U"nee", U"zonder", U"noch", U"on-", U"-loos", U"-loze", U"maar", U"slechts",
         U"alleen", U"mislukt", U"pas"}}},
      {"pt",
       {{U"não", U"nunca", U"jamais", U"ninguém", U"nenhum-"},
        {U"nada", U"sem", U"nem", U"impossível", U"in-", U"im-", U"des-", U"só", U"apenas", U"falh-",
         U"evit-"}}}};
  return all;
}

bool equals(std::u32string_view word, std::u32string_view pattern) {
  if (pattern.ends_with(U'-')) return word.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with(U'-')) return word.ends_with(pattern.substr(1));
  return word == pattern;
}

bool is_one_of(std::u32string_view word, const std::vector<std::u32string>& patterns) {
  return std::ranges::any_of(patterns, [&](const std::u32string& pattern) { return equals(word, pattern); });
}

}  // namespace

const NegationWords* negation_words(const std::string& language) {
  const auto found = all_negation_words().find(two_letters(language));
  return found != all_negation_words().end() ? &found->second : nullptr;
}

FoundNegation find_negation(std::string_view text, const NegationWords& words) {
  std::u32string all = lower_case(code_points(text));
  std::ranges::replace(all, U'’', U'\'');
  const auto is_of_word = [](char32_t c) { return is_letter(c) || is_combining(c) || c == U'\''; };
  FoundNegation found;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    while (end < all.size() && is_of_word(all[end])) ++end;
    const std::u32string_view word = std::u32string_view(all).substr(begin, end - begin);
    begin = end == begin ? begin + 1 : end;
    if (word.empty()) continue;
    const bool certain = is_one_of(word, words.certain);
    if (certain && found.certain.empty()) found.certain = to_utf8(word);
    found.possible |= certain || is_one_of(word, words.possible);
  }
  return found;
}

}  // namespace dragoman::internal
