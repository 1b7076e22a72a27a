#include "metrics/ter.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "metrics/bleu.h"
#include "metrics/edits.h"
#include "metrics/rewriting.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// The ranges of sacreBLEU. That of enclosed letters (U+3200 to U+32FF) ends at U+3F22 there, without consequences, as
// all up to U+33FF are listed anyway, and U+3400 begins the ideographs.
bool is_separate_in_ter(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3200 && c <= 0x4DBF) || (c >= 0x31C0 && c <= 0x31EF) ||
         (c >= 0x2E80 && c <= 0x2EFF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE4F);
}

bool is_asian_punctuation(char32_t c) {
  constexpr std::u32string_view marks = U"、。・．，？：；！＂（）";
  return marks.find(c) != marks.npos || (c >= 0x3008 && c <= 0x3011) || (c >= 0x3014 && c <= 0x301F) ||
         (c >= 0xFF61 && c <= 0xFF65);
}

bool is_removed_in_ter(char32_t c) {
  constexpr std::u32string_view marks = U".,?:;!\"()";
  return marks.find(c) != marks.npos;
}

// sacreBLEU's rules for runs of kana match nothing after the space that begins the text, so they are left out.
std::u32string normalized_for_ter(std::u32string text, bool asian_support) {
  replace_all(text, U"\n-", U"");
  replace_all(text, U"\n", U" ");
  decode_entities(text);
  text = separate_marks(U" " + text + U" ");
  replace_all(text, U"'s ", U" 's ");
  text = separate_points(std::move(text));
  if (!asian_support) return text;
  return set_apart(text, [](char32_t c) { return is_separate_in_ter(c) || is_asian_punctuation(c); });
}

std::u32string prepared_for_ter(std::u32string text, const TerOptions& options) {
  while (!text.empty() && is_space(text.back())) text.pop_back();
  if (text.empty()) return text;
  if (!options.case_sensitive) text = lower_case(text);
  if (options.normalized) text = normalized_for_ter(std::move(text), options.asian_support);
  if (options.no_punctuation) {
    std::erase_if(text, is_removed_in_ter);
    if (options.asian_support) std::erase_if(text, is_asian_punctuation);
  }
  return single_spaced(text);
}

// Gives each distinct word a number.
class NumberedWords {
 public:
  explicit NumberedWords(const TerOptions& options) : options_(options) {}

  std::vector<int32_t> of_hypothesis(std::string_view sentence) {
    return numbers(prepared_for_ter(code_points(sentence), options_));
  }

  // sacreBLEU prepares references twice, which separates ",.5" further.
  std::vector<int32_t> of_reference(std::string_view sentence) {
    return numbers(prepared_for_ter(prepared_for_ter(code_points(sentence), options_), options_));
  }

 private:
  std::vector<int32_t> numbers(const std::u32string& text) {
    std::vector<int32_t> words;
    for (const std::u32string_view word : split_words(text)) {
      const auto next = static_cast<int32_t>(known_.size());
      words.push_back(known_.try_emplace(std::u32string(word), next).first->second);
    }
    return words;
  }

  const TerOptions& options_;
  std::unordered_map<std::u32string, int32_t> known_;
};

std::string_view yes_or_no(bool value) { return value ? "yes" : "no"; }

}  // namespace

TerStatistics& TerStatistics::operator+=(const TerStatistics& other) {
  edits += other.edits;
  reference_length += other.reference_length;
  return *this;
}

TerStatistics ter_statistics(std::string_view hypothesis, std::string_view reference,
                             const TerOptions& options) {
  return ter_statistics(hypothesis, std::span(&reference, 1), options);
}

TerStatistics ter_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                             const TerOptions& options) {
  CHECK(!references.empty());
  NumberedWords words(options);
  const std::vector<int32_t> ours = words.of_hypothesis(hypothesis);
  int64_t fewest = std::numeric_limits<int64_t>::max(), length = 0;
  for (const std::string_view reference : references) {
    const std::vector<int32_t> theirs = words.of_reference(reference);
    fewest = std::min(fewest, edits_with_shifts(ours, theirs));
    length += std::ssize(theirs);
  }
  return {.edits = fewest,
          .reference_length = static_cast<double>(length) / static_cast<double>(references.size())};
}

double ter_score(const TerStatistics& sums) {
  if (sums.reference_length > 0) return 100 * (static_cast<double>(sums.edits) / sums.reference_length);
  return sums.edits > 0 ? 100 : 0;
}

std::string ter_signature(const TerOptions& options, size_t references) {
  return fmt::format("nrefs:{}|case:{}|tok:tercom|norm:{}|punct:{}|asian:{}|version:{}", references,
                     options.case_sensitive ? "mixed" : "lc", yes_or_no(options.normalized),
                     yes_or_no(!options.no_punctuation), yes_or_no(options.asian_support), sacrebleu_version);
}

}  // namespace dragoman::internal
