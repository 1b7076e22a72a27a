#include "search/rules.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace dragoman {
namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

// The only token that may come now, if there is but one.
std::optional<int32_t> forced_token(const Beam& beam, size_t length) {
  if (static_cast<int64_t>(length) >= beam.max_length) return beam.end;
  if (length < beam.prefix.size()) return beam.prefix[length];
  return std::nullopt;
}

void forbid_all_but(int32_t token, std::span<float> row) {
  const float kept = row[static_cast<size_t>(token)];
  std::ranges::fill(row, never);
  row[static_cast<size_t>(token)] = kept;
}

// Forbids every token that followed the last n − 1 ones before.
void forbid_repeated_ngrams(std::span<const int32_t> tokens, int64_t n, std::span<float> row) {
  const auto before = static_cast<size_t>(n - 1);
  if (tokens.size() < before) return;
  const auto last = tokens.last(before);
  for (size_t i = 0; i + before < tokens.size(); ++i) {
    if (std::ranges::equal(tokens.subspan(i, before), last))
      row[static_cast<size_t>(tokens[i + before])] = never;
  }
}

void penalise_repeated_tokens(std::vector<int32_t> tokens, double penalty, std::span<float> row) {
  std::ranges::sort(tokens);
  const auto repeated = std::ranges::unique(tokens);
  tokens.erase(repeated.begin(), repeated.end());
  for (const int32_t token : tokens) row[static_cast<size_t>(token)] *= static_cast<float>(penalty);
}

}  // namespace

void apply_rules(const Beam& beam, const Hypothesis& hypothesis, const SearchOptions& options,
                 std::span<float> row) {
  if (const auto only = forced_token(beam, hypothesis.tokens.size())) return forbid_all_but(*only, row);
  if (beam.end >= 0 && static_cast<int64_t>(hypothesis.tokens.size()) < beam.min_length)
    row[static_cast<size_t>(beam.end)] = never;
  if (beam.no_repeat_ngram > 0) forbid_repeated_ngrams(hypothesis.tokens, beam.no_repeat_ngram, row);
  if (options.repetition_penalty != 1)
    penalise_repeated_tokens(hypothesis.tokens, options.repetition_penalty, row);
}

}  // namespace dragoman
