// An entry of a glossary: a term and its translation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dragoman::internal {

struct GlossaryEntry {
  std::vector<std::string> sources;  // forms of the term: at least one
  std::vector<std::string> targets;  // the first is preferred; none: the term stays as it is in the text
  enum class Case {
    at_sentence_start,  // as written, and with a capital where a sentence begins
    any,
    exact,
  } letter_case = Case::at_sentence_start;

  bool operator==(const GlossaryEntry&) const = default;
};

// Of a TBX file: "en", or "en-GB" for only that variety. If empty, the file has two, of which the first that comes
// is the source's.
struct GlossaryLanguages {
  std::string from, to;
};

constexpr size_t max_term_length = 500;  // characters

// A term of a file: without white space around it, and with single spaces. Throws an Error with the place if it is
// longer than the limit.
std::string checked_term(const std::string& text, const std::string& path, int64_t line);

}  // namespace dragoman::internal
