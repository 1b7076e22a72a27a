// Glossary: entries, found in texts in a time that hardly grows with their number.
//
// A term is found at word boundaries, and in scripts without spaces between words anywhere. White space of the
// text matches a space, and ’ an apostrophe. Of terms that begin at the same place the longest wins; the next one
// begins after it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/glossary/entry.h"
#include "text/spans.h"

namespace dragoman::internal {

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
  std::vector<Key> exact_, any_case_;  // in order; those of any case in lower case
};

}  // namespace dragoman::internal
