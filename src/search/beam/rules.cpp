#include "search/beam/rules.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace dragoman::internal {
namespace {

// The next token of the prefix, where the hypothesis is the beginning of the prefix.
std::optional<int32_t> next_of_prefix(const Beam& beam, std::span<const int32_t> tokens) {
  if (tokens.size() >= beam.prefix.size()) return std::nullopt;
  const bool follows = std::equal(tokens.begin(), tokens.end(), beam.prefix.begin());
  return follows ? std::optional(beam.prefix[tokens.size()]) : std::nullopt;
}

void forbid_all_but(int32_t token, const NextWords& row) {
  float* const place = row.find(token);
  const float kept = place != nullptr ? *place : no_probability;
  std::ranges::fill(row.log_probabilities, no_probability);
  if (place != nullptr) *place = kept;
}

void force(int32_t token, const NextWords& row) {
  forbid_all_but(token, row);
  if (float* const place = row.find(token)) *place = 0;
}

// p becomes (1 − bias)·p, and has the bias added for the one token.
void prefer(int32_t token, double bias, const NextWords& row) {
  float* const place = row.find(token);
  const double p = place != nullptr ? std::exp(static_cast<double>(*place)) : 0;
  for (float& log_p : row.log_probabilities) log_p += static_cast<float>(std::log1p(-bias));
  if (place != nullptr) *place = static_cast<float>(std::log((1 - bias) * p + bias));
}

// Forbids every token that followed the last n − 1 ones before.
void forbid_repeated_ngrams(std::span<const int32_t> tokens, int64_t n, const NextWords& row) {
  const auto before = static_cast<size_t>(n - 1);
  if (tokens.size() < before) return;
  const auto last = tokens.last(before);
  for (size_t i = 0; i + before < tokens.size(); ++i) {
    if (std::ranges::equal(tokens.subspan(i, before), last)) forbid(tokens[i + before], row);
  }
}

void penalise_repeated_tokens(std::vector<int32_t> tokens, double penalty, const NextWords& row) {
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  for (const int32_t token : tokens) {
    if (float* const place = row.find(token)) *place *= static_cast<float>(penalty);
  }
}

}  // namespace

void forbid(int32_t token, const NextWords& row) {
  if (float* const place = row.find(token)) *place = no_probability;
}

float* NextWords::find(int32_t word) const {
  if (words.empty()) return &log_probabilities[static_cast<size_t>(word)];
  const auto place = std::ranges::lower_bound(words, word);
  if (place == words.end() || *place != word) return nullptr;
  return &log_probabilities[static_cast<size_t>(place - words.begin())];
}

size_t left_out(const Beam& beam) {
  constexpr size_t most = 32;
  return beam.suppressed.size() <= most ? beam.suppressed.size() : 0;
}

bool has_rules(const Beam& beam, const Hypothesis& hypothesis, const SearchOptions& options) {
  const auto length = static_cast<int64_t>(hypothesis.tokens.size());
  return beam.suppressed.size() > left_out(beam) || length >= beam.max_length ||
         length < static_cast<int64_t>(beam.prefix.size()) || (beam.end >= 0 && length < beam.min_length) ||
         beam.no_repeat_ngram > 0 || options.repetition_penalty != 1;
}

void apply_rules(const Beam& beam, const Hypothesis& hypothesis, const SearchOptions& options,
                 const NextWords& row) {
  if (static_cast<int64_t>(hypothesis.tokens.size()) >= beam.max_length)
    return options.forced_end ? force(beam.end, row) : forbid_all_but(beam.end, row);
  if (const auto next = next_of_prefix(beam, hypothesis.tokens)) {
    if (options.prefix_bias == 1) return forbid_all_but(*next, row);
    prefer(*next, options.prefix_bias, row);
  }
  if (beam.end >= 0 && static_cast<int64_t>(hypothesis.tokens.size()) < beam.min_length)
    forbid(beam.end, row);
  for (const int32_t token : beam.suppressed) forbid(token, row);
  if (beam.no_repeat_ngram > 0) forbid_repeated_ngrams(hypothesis.tokens, beam.no_repeat_ngram, row);
  if (options.repetition_penalty != 1)
    penalise_repeated_tokens(hypothesis.tokens, options.repetition_penalty, row);
}

}  // namespace dragoman::internal
