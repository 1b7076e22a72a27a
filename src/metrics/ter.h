// TER, the translation edit rate (Snover et al., 2006): the insertions, deletions, substitutions and shifts of phrases
// that turn a translation into its reference, per 100 words of the reference. Lower is better, and it may exceed 100.
// Equal to sacreBLEU's to the last printed digit, which follows Tercom. Statistics and scores work as in bleu.h.
// Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dragoman::internal {

struct TerOptions {
  bool normalized = false;      // decode XML's entities and separate punctuation, as mteval does
  bool no_punctuation = false;  // remove . , ? : ; ! " ( )
  bool asian_support =
      false;  // normalized: also separate CJK characters; no_punctuation: also remove CJK punctuation
  bool case_sensitive = false;
};

struct TerStatistics {
  int64_t edits = 0;
  double reference_length = 0;  // in words; with several references their average

  TerStatistics& operator+=(const TerStatistics& other);
};

TerStatistics ter_statistics(std::string_view hypothesis, std::string_view reference,
                             const TerOptions& options = {});
// With several references, at least one: the edits of the one that needs fewest.
TerStatistics ter_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                             const TerOptions& options = {});
double ter_score(const TerStatistics& sums);
std::string ter_signature(const TerOptions& options, size_t references = 1);

}  // namespace dragoman::internal
