#include "metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "metrics/ngrams.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// Gives each distinct word a number, so that a sentence becomes a string of numbers.
class Words {
 public:
  std::u32string numbers(std::string_view sentence, const BleuOptions& options) {
    std::u32string text = code_points(sentence);
    if (options.lowercase) text = lower_case(text);
    while (!text.empty() && is_space(text.back())) text.pop_back();
    text = tokenize(options.tokenizer, std::move(text), options.subwords.get());
    std::u32string result;
    for (const std::u32string_view word : split_words(text)) {
      result += known_.try_emplace(std::u32string(word), static_cast<char32_t>(known_.size())).first->second;
    }
    return result;
  }

 private:
  std::unordered_map<std::u32string, char32_t> known_;
};

int64_t nearest_length(int64_t length, std::span<const std::u32string> references) {
  int64_t nearest = std::ssize(references[0]);
  for (const std::u32string& reference : references) {
    const int64_t other = std::ssize(reference), before = std::abs(nearest - length),
                  now = std::abs(other - length);
    if (now < before || (now == before && other < nearest)) nearest = other;
  }
  return nearest;
}

}  // namespace

BleuStatistics& BleuStatistics::operator+=(const BleuStatistics& other) {
  hypothesis_length += other.hypothesis_length;
  reference_length += other.reference_length;
  for (size_t n = 0; n < matches.size(); ++n) {
    matches[n] += other.matches[n];
    ngrams[n] += other.ngrams[n];
  }
  return *this;
}

BleuStatistics bleu_statistics(std::string_view hypothesis, std::string_view reference,
                               const BleuOptions& options) {
  return bleu_statistics(hypothesis, std::span(&reference, 1), options);
}

BleuStatistics bleu_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               const BleuOptions& options) {
  CHECK(!references.empty());
  Words words;
  const std::u32string ours = words.numbers(hypothesis, options);
  std::vector<std::u32string> theirs;
  for (const std::string_view reference : references) theirs.push_back(words.numbers(reference, options));
  BleuStatistics statistics = {.hypothesis_length = std::ssize(ours),
                               .reference_length = nearest_length(std::ssize(ours), theirs)};
  for (size_t n = 1; n <= statistics.matches.size(); ++n) {
    statistics.matches[n - 1] = common_ngrams(ours, theirs, n);
    statistics.ngrams[n - 1] = ngrams(ours.size(), n);
  }
  return statistics;
}

BleuScore bleu_score(const BleuStatistics& sums) {
  const auto ours = static_cast<double>(sums.hypothesis_length),
             theirs = static_cast<double>(sums.reference_length);
  BleuScore result = {.ratio = theirs > 0 ? ours / theirs : 0,
                      .hypothesis_length = sums.hypothesis_length,
                      .reference_length = sums.reference_length};
  if (ours < theirs) result.brevity_penalty = ours > 0 ? std::exp(1 - theirs / ours) : 0;
  if (std::all_of(sums.matches.begin(), sums.matches.end(), [](int64_t n) { return n == 0; })) return result;

  // Smoothing "exp" (Chen and Cherry, 2014, method 3): the k-th precision without a match counts 2^-k matches.
  double smoothing = 1, sum_of_logs = 0;
  for (size_t n = 0; n < sums.matches.size(); ++n) {
    if (sums.ngrams[n] == 0) return result;  // no hypothesis has n + 1 tokens: the score is 0
    const double matches = sums.matches[n] > 0 ? static_cast<double>(sums.matches[n]) : 1 / (smoothing *= 2);
    result.precisions[n] = 100 * matches / static_cast<double>(sums.ngrams[n]);
    sum_of_logs += std::log(result.precisions[n]);
  }
  result.score = result.brevity_penalty * std::exp(sum_of_logs / static_cast<double>(sums.matches.size()));
  return result;
}

std::string BleuScore::details() const {
  return fmt::format("{:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
                     precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio,
                     hypothesis_length, reference_length);
}

std::string bleu_signature(const BleuOptions& options, size_t references) {
  return fmt::format("nrefs:{}|case:{}|eff:no|tok:{}|smooth:exp|version:{}", references,
                     options.lowercase ? "lc" : "mixed", name_of(options.tokenizer), sacrebleu_version);
}

}  // namespace dragoman::internal
