#include "metrics/chrf.h"

#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "metrics/bleu.h"
#include "metrics/ngrams.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

bool is_ascii_punctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// The words as numbers, equal for equal words. A punctuation mark at a word's end, or else at its beginning, counts as
// a word.
std::u32string numbered_words(std::u32string_view text,
                              std::unordered_map<std::u32string_view, char32_t>& known) {
  std::u32string numbers;
  const auto add = [&](std::u32string_view word) {
    numbers += known.try_emplace(word, static_cast<char32_t>(known.size())).first->second;
  };
  for (const std::u32string_view word : split_words(text)) {
    if (word.size() > 1 && is_ascii_punctuation(word.back())) {
      add(word.substr(0, word.size() - 1));
      add(word.substr(word.size() - 1));
    } else if (word.size() > 1 && is_ascii_punctuation(word.front())) {
      add(word.substr(0, 1));
      add(word.substr(1));
    } else {
      add(word);
    }
  }
  return numbers;
}

void add_orders(ChrfStatistics& statistics, const std::u32string& ours, const std::u32string& theirs,
                int orders) {
  for (size_t n = 1; n <= static_cast<size_t>(orders); ++n) {
    const int64_t reference = ngrams(theirs.size(), n);
    // If the reference has no n-grams, those of the hypothesis do not count either.
    statistics.orders.push_back({.hypothesis = reference > 0 ? ngrams(ours.size(), n) : 0,
                                 .reference = reference,
                                 .matches = common_ngrams(ours, std::span(&theirs, 1), n)});
  }
}

}  // namespace

ChrfStatistics& ChrfStatistics::operator+=(const ChrfStatistics& other) {
  if (orders.empty()) orders.resize(other.orders.size());
  CHECK(orders.size() == other.orders.size(), "{} orders and {}", orders.size(), other.orders.size());
  for (size_t i = 0; i < orders.size(); ++i) {
    orders[i].hypothesis += other.orders[i].hypothesis;
    orders[i].reference += other.orders[i].reference;
    orders[i].matches += other.orders[i].matches;
  }
  return *this;
}

ChrfStatistics chrf_statistics(std::string_view hypothesis, std::string_view reference,
                               const ChrfOptions& options) {
  std::u32string ours = code_points(hypothesis), theirs = code_points(reference);
  if (options.lowercase) {
    ours = lower_case(ours);
    theirs = lower_case(theirs);
  }
  std::unordered_map<std::u32string_view, char32_t> known;
  const std::u32string our_words = numbered_words(ours, known), their_words = numbered_words(theirs, known);
  std::erase_if(ours, is_space);
  std::erase_if(theirs, is_space);
  ChrfStatistics statistics;
  add_orders(statistics, ours, theirs, chrf_character_order);
  add_orders(statistics, our_words, their_words, options.word_order);
  return statistics;
}

ChrfStatistics chrf_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               const ChrfOptions& options) {
  CHECK(!references.empty());
  ChrfStatistics best;
  double highest = -1;
  for (const std::string_view reference : references) {
    ChrfStatistics statistics = chrf_statistics(hypothesis, reference, options);
    const double score = chrf_score(statistics);
    if (score <= highest) continue;
    highest = score;
    best = std::move(statistics);
  }
  return best;
}

double chrf_score(const ChrfStatistics& sums) {
  double precision = 0, recall = 0, orders = 0;
  for (const ChrfStatistics::Order& order : sums.orders) {
    if (order.hypothesis == 0 || order.reference == 0) continue;
    precision += static_cast<double>(order.matches) / static_cast<double>(order.hypothesis);
    recall += static_cast<double>(order.matches) / static_cast<double>(order.reference);
    orders += 1;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr double factor = 4;  // β², with recall twice as important as precision
  // In the order of sacreBLEU's operations: which of several references is the best depends on the last bit.
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

std::string chrf_name(const ChrfOptions& options) {
  return "chrF2" + std::string(static_cast<size_t>(options.word_order), '+');
}

std::string chrf_signature(const ChrfOptions& options, size_t references) {
  return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:{}|space:no|version:{}", references,
                     options.lowercase ? "lc" : "mixed", chrf_character_order, options.word_order,
                     sacrebleu_version);
}

}  // namespace dragoman::internal
