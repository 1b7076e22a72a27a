#include "text/sentences.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "text/breaks.h"
#include "text/sentence_rules.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

SentencePart without_space(std::string_view text) {
  const size_t end = text.size() - trailing_space(text);
  return {text.substr(0, end), text.substr(end)};
}

// The length in bytes of closing quotes and brackets that white space or nothing follows, as in "« Quoi ? » Oui."
size_t leading_closers(std::string_view text) {
  size_t size = 0;
  for (size_t next = 0; size < text.size(); size = next) {
    UChar32 c;
    U8_NEXT(text.data(), next, text.size(), c);
    if ((U_GET_GC_MASK(c) & (U_GC_PE_MASK | U_GC_PF_MASK)) != 0) continue;
    return is_space(static_cast<char32_t>(c)) ? size : 0;
  }
  return size;
}

// A line break ends a sentence whatever precedes it.
bool is_line_break(std::string_view space) { return space.find_first_of("\n\r") != space.npos; }

// Adds what Unicode's rules call a sentence: as one of its own, or as a continuation of the one before it.
void add(SentencePart part, const SentenceRules& rules, std::vector<SentencePart>& parts) {
  if (parts.empty() || parts.back().space.empty() || is_line_break(parts.back().space)) {
    parts.push_back(part);
    return;
  }
  SentencePart& before = parts.back();
  if (const size_t closers = leading_closers(part.sentence); closers > 0) {
    before.sentence = {before.sentence.begin(), part.sentence.begin() + closers};
    part.sentence.remove_prefix(closers);
    const size_t space = leading_space(part.sentence);
    before.space = part.sentence.empty() ? part.space : part.sentence.substr(0, space);
    part.sentence.remove_prefix(space);
    if (part.sentence.empty()) return;
  }
  if (rules.join(before.sentence, part.sentence)) {
    before = {{before.sentence.begin(), part.sentence.end()}, part.space};
  } else {
    parts.push_back(part);
  }
}

}  // namespace

std::vector<SentencePart> split_sentences(std::string_view text, std::string_view language) {
  text.remove_prefix(leading_space(text));
  const SentenceRules& rules = SentenceRules::of(language);
  std::vector<SentencePart> parts;
  size_t begin = 0;
  for (const size_t end : breaks_in(text, BreakKind::sentence)) {
    add(without_space(text.substr(begin, end - begin)), rules, parts);
    begin = end;
  }
  return parts;
}

bool ends_sentence(std::string_view text) {
  for (auto end = static_cast<int32_t>(text.size()); end > 0;) {
    UChar32 c;
    U8_PREV(text.data(), 0, end, c);
    const bool closes = c == '"' || c == '\'' || (U_GET_GC_MASK(c) & (U_GC_PE_MASK | U_GC_PF_MASK)) != 0;
    if (!closes && !is_space(static_cast<char32_t>(c))) return u_hasBinaryProperty(c, UCHAR_S_TERM) != 0;
  }
  return false;
}

}  // namespace dragoman::internal
