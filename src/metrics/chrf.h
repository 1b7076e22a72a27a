// chrF (Popović, 2015), the F-score of character n-grams, and with word_order 2 chrF++ (2017), equal to sacreBLEU's to
// the last printed digit. Statistics and scores work as in bleu.h. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

struct ChrfOptions {
  int word_order = 0;  // also count word n-grams up to this length
  bool lowercase = false;
};

inline constexpr int chrf_character_order = 6;

struct ChrfStatistics {
  struct Order {
    int64_t hypothesis = 0, reference = 0, matches = 0;  // n-grams
  };
  std::vector<Order> orders;  // of 1 to 6 characters, then of 1 to word_order words

  ChrfStatistics& operator+=(const ChrfStatistics& other);  // both of the same orders, or the left one empty
};

ChrfStatistics chrf_statistics(std::string_view hypothesis, std::string_view reference,
                               const ChrfOptions& options = {});
// With several references, at least one: of the reference with the best score.
ChrfStatistics chrf_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               const ChrfOptions& options = {});
double chrf_score(const ChrfStatistics& sums);      // 0 to 100
std::string chrf_name(const ChrfOptions& options);  // "chrF2", "chrF2++"
std::string chrf_signature(const ChrfOptions& options, size_t references = 1);

}  // namespace dragoman::internal
