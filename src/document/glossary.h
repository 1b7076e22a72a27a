// Glossary: entries, found in texts in a time that hardly grows with their number; and the files that have them.
//
// A term is found at word boundaries, and in scripts without spaces between words anywhere. White space of the
// text matches a space, and ’ an apostrophe. Of terms that begin at the same place the longest wins; the next one
// begins after it.
//
// Its files are tab-separated text, and TBX (ISO 30042), the exchange format of terminology systems. From a pipe
// tab-separated text is read.
//
// A tab-separated file has one entry per line: the source, its translation, and optionally flags.
//
//   Hund | Hunde | Hundes <tab> dog | dogs
//   GitHub                <tab> =               stays as it is in the text
//   kern                  <tab> Kernel <tab> any-case
//   # a comment; empty lines are ignored
//
// Forms of a source and alternatives of a target are separated by |; \| is a literal |, and \# at the beginning of a
// line a literal #. The flags: any-case (letters of either case match), exact-case (only as written, also where a
// sentence begins). The first line may be a header: source, target, flags.
//
// Of a TBX file a concept is an entry: its terms in the one language translated by its terms in the other, without
// those that are deprecated or superseded, the preferred ones first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/spans.h"

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

struct GlossaryMatch {
  TextSpan source;                   // code points of the text
  std::vector<std::string> targets;  // the preferred one first

  bool operator==(const GlossaryMatch&) const = default;
};

// Immutable: threads may share it.
class Glossary {
 public:
  explicit Glossary(std::vector<GlossaryEntry> entries);

  size_t size() const { return entries_.size(); }
  std::vector<GlossaryMatch> find(std::string_view text) const;

 private:
  struct Key {
    std::u32string text;
    size_t entry;
  };
  struct KeyMatch;

  static const Key* longest(const std::vector<Key>& keys, std::u32string_view text, size_t begin,
                            char32_t first, size_t& end);
  KeyMatch find_at(std::u32string_view text, std::u32string_view lowered, size_t begin) const;
  std::vector<std::string> targets_of(const KeyMatch& found, std::u32string_view text) const;

  std::vector<GlossaryEntry> entries_;
  // Sorted. `exact_`: as written. `capital_`: those of them that a capital may begin, at the start of a sentence.
  // `any_case_`: in lower case.
  std::vector<Key> exact_, capital_, any_case_;
};

// Throws an Error that names the file and the line.
std::vector<GlossaryEntry> read_glossary(const std::string& path, const GlossaryLanguages& languages);

constexpr size_t max_term_length = 500;  // characters

// A term of a file: without white space around it, and with single spaces. Throws an Error with the place if it is
// longer than the limit.
std::string checked_term(const std::string& text, const std::string& path, int64_t line);

}  // namespace dragoman::internal
