#include "text/sentences.h"

#include <memory>

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include "base/error.h"
#include "text/sentence_rules.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// The length in bytes of leading white space.
size_t leading_space(std::string_view text) {
  size_t size = 0;
  for (size_t next = 0; size < text.size(); size = next) {
    UChar32 c;
    U8_NEXT(text.data(), next, text.size(), c);
    if (!is_space(static_cast<char32_t>(c))) break;
  }
  return size;
}

SentencePart without_space(std::string_view text) {
  auto end = static_cast<int32_t>(text.size());
  for (int32_t before = end; end > 0; end = before) {
    UChar32 c;
    U8_PREV(text.data(), 0, before, c);
    if (!is_space(static_cast<char32_t>(c))) break;
  }
  return {text.substr(0, static_cast<size_t>(end)), text.substr(static_cast<size_t>(end))};
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
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> boundaries(
      icu::BreakIterator::createSentenceInstance(icu::Locale::getRoot(), status));
  CHECK(U_SUCCESS(status), "{}", u_errorName(status));
  text.remove_prefix(leading_space(text));
  UText utf8 = UTEXT_INITIALIZER;
  utext_openUTF8(&utf8, text.data(), static_cast<int64_t>(text.size()), &status);
  boundaries->setText(&utf8, status);
  CHECK(U_SUCCESS(status), "{}", u_errorName(status));

  const SentenceRules& rules = SentenceRules::of(language);
  std::vector<SentencePart> parts;
  int32_t begin = boundaries->first();
  for (int32_t end = boundaries->next(); end != icu::BreakIterator::DONE; end = boundaries->next()) {
    add(without_space(text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin))), rules,
        parts);
    begin = end;
  }
  utext_close(&utf8);
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
