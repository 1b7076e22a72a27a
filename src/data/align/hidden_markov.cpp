#include "data/align/hidden_markov.h"

#include <numeric>

namespace dragoman::internal {
namespace {

// Of every target word, in advance.
constexpr float null_probability = 0.2F;
constexpr float tiny = 1e-30F;

float sum_of(std::span<const float> values) { return std::accumulate(values.begin(), values.end(), 0.0F); }

void scale(std::span<float> values, float factor) {
  for (float& value : values) value *= factor;
}

}  // namespace

void PairPosteriors::find(const TranslationTable& table, std::span<const int32_t> source,
                          std::span<const int32_t> target) {
  places_.resize(target.size(), source.size());
  emissions_.resize(target.size(), source.size());
  posteriors_.resize(target.size(), source.size());
  for (size_t j = 0; j < target.size(); ++j) {
    const auto places = places_.row(j);
    const auto emissions = emissions_.row(j);
    for (size_t i = 0; i <= source.size(); ++i) {
      places[i] = table.find(i < source.size() ? source[i] : table.null_word(), target[j]);
      emissions[i] = table.probability(places[i]);
    }
  }
}

void PairPosteriors::without_jumps() {
  const auto sources = static_cast<float>(emissions_.sources);
  for (size_t j = 0; j < emissions_.targets; ++j) {
    const auto from = emissions_.row(j);
    const auto to = posteriors_.row(j);
    std::ranges::copy(from, to.begin());
    scale(to.first(to.size() - 1), (1 - null_probability) / sources);
    to.back() *= null_probability;
    scale(to, 1 / std::max(tiny, sum_of(to)));
  }
}

void PairPosteriors::prepare(const Jumps& jumps) {
  const auto sources = static_cast<int64_t>(emissions_.sources);
  weights_.clear();
  for (int64_t distance = -sources; distance <= sources + 1; ++distance) weights_.push_back(jumps[distance]);
  leaving_.clear();
  for (int64_t from = -1; from < sources; ++from) {
    float sum = 0;
    for (int64_t to = 0; to <= sources; ++to) sum += jumps[to - from];
    leaving_.push_back(1 / std::max(tiny, sum));
  }
}

// From the probability of each state to that of a jump to each word, and behind the sentence.
void PairPosteriors::leave(std::span<const float> states, std::span<float> arrivals) const {
  std::ranges::fill(arrivals, 0.0F);
  for (size_t from = 0; from < states.size(); ++from) {
    const float here = states[from] * leaving_[from];
    if (here < tiny) continue;
    const float* const weights = &weights_[emissions_.sources + 1 - from];
    for (size_t to = 0; to < arrivals.size(); ++to) arrivals[to] += here * weights[to];
  }
}

void PairPosteriors::pass_forward() {
  const size_t sources = emissions_.sources;
  forward_.assign((emissions_.targets + 1) * states(), 0);
  word_part_.assign(emissions_.targets * states(), 0);
  arrivals_.resize(states());
  state_row(forward_, 0)[0] = 1;
  for (size_t j = 0; j < emissions_.targets; ++j) {
    const auto before = state_row(forward_, j), after = state_row(forward_, j + 1);
    const auto words = state_row(word_part_, j);
    const auto emissions = emissions_.row(j);
    leave(before, arrivals_);
    for (size_t i = 0; i < sources; ++i) words[i + 1] = (1 - null_probability) * arrivals_[i] * emissions[i];
    for (size_t s = 0; s < states(); ++s)
      after[s] = words[s] + null_probability * emissions[sources] * before[s];
    const float factor = 1 / std::max(tiny, sum_of(after));
    scale(after, factor);
    scale(words, factor);
  }
}

void PairPosteriors::add_expected(std::span<const float> before, std::span<const float> after,
                                  Jumps& expected) const {
  const auto sources = static_cast<int64_t>(emissions_.sources);
  float all = 0;
  for (size_t from = 0; from < before.size(); ++from) {
    const float* const weights = &weights_[emissions_.sources + 1 - from];
    float sum = 0;
    for (size_t to = 0; to < after.size(); ++to) sum += weights[to] * after[to];
    all += before[from] * leaving_[from] * sum;
  }
  if (all < tiny) return;
  for (int64_t from = 0; from <= sources; ++from) {
    const auto state = static_cast<size_t>(from);
    const float here = before[state] * leaving_[state] / all;
    if (here < tiny) continue;
    for (int64_t to = 0; to < std::ssize(after); ++to) {
      const int64_t distance = to + 1 - from;
      expected[distance] +=
          here * weights_[static_cast<size_t>(sources + distance)] * after[static_cast<size_t>(to)];
    }
  }
}

void PairPosteriors::pass_backward(Jumps* expected) {
  const size_t sources = emissions_.sources;
  // backward_: the probability of all that follows, by state. Behind the last word the sentence ends.
  backward_.assign(states(), 0);
  next_.assign(states(), 0);
  for (size_t from = 0; from < states(); ++from)
    backward_[from] = weights_[2 * sources + 1 - from] * leaving_[from];
  for (size_t j = emissions_.targets; j-- > 0;) {
    const auto words = state_row(word_part_, j), before = state_row(forward_, j);
    const auto emissions = emissions_.row(j);
    const auto posteriors = posteriors_.row(j);
    const float null = null_probability * emissions[sources];
    float by_null = 0;
    for (size_t s = 0; s < states(); ++s)
      by_null += (state_row(forward_, j + 1)[s] - words[s]) * backward_[s];
    for (size_t i = 0; i < sources; ++i) posteriors[i] = words[i + 1] * backward_[i + 1];
    posteriors[sources] = std::max(0.0F, by_null);
    scale(posteriors, 1 / std::max(tiny, sum_of(posteriors)));

    for (size_t i = 0; i < sources; ++i)
      arrivals_[i] = (1 - null_probability) * emissions[i] * backward_[i + 1];
    arrivals_[sources] = 0;
    if (expected) add_expected(before, std::span(arrivals_).first(sources), *expected);
    for (size_t from = 0; from < states(); ++from) {
      const float* const weights = &weights_[sources + 1 - from];
      float sum = 0;
      for (size_t to = 0; to < sources; ++to) sum += weights[to] * arrivals_[to];
      next_[from] = sum * leaving_[from] + null * backward_[from];
    }
    backward_.swap(next_);
    scale(backward_, 1 / std::max(tiny, sum_of(backward_)));
  }
}

void PairPosteriors::with_jumps(const Jumps& jumps, Jumps* expected) {
  prepare(jumps);
  pass_forward();
  pass_backward(expected);
}

}  // namespace dragoman::internal
