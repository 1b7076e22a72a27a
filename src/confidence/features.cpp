#include "confidence/features.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

struct ScoredWord {
  double log_probability = 0, least = 0;
  size_t tokens = 0;
};

// A token belongs to the first word that ends behind its beginning.
std::vector<ScoredWord> scored_words(const std::vector<TextSpan>& spans,
                                     const std::vector<ScoredToken>& tokens) {
  std::vector<ScoredWord> words(spans.size());
  size_t word = 0;
  for (const ScoredToken& token : tokens) {
    while (word + 1 < spans.size() && spans[word].end <= token.span.begin) ++word;
    if (word == spans.size() || token.span.begin == token.span.end) continue;
    words[word].log_probability += token.log_probability;
    words[word].least = std::min(words[word].least, token.log_probability);
    ++words[word].tokens;
  }
  return words;
}

double total_of(const std::vector<ScoredToken>& tokens) {
  double sum = 0;
  for (const ScoredToken& token : tokens) sum += token.log_probability;
  return sum;
}

double mean_of(const std::vector<ScoredToken>& tokens) {
  return tokens.empty() ? 0 : total_of(tokens) / static_cast<double>(tokens.size());
}

double least_of(const std::vector<ScoredWord>& words) {
  double least = 0;
  for (const ScoredWord& word : words) least = std::min(least, word.log_probability);
  return least;
}

double root(double log_probability) { return std::sqrt(-std::min(log_probability, 0.0)); }

double log_count(size_t count) { return std::log(static_cast<double>(std::max<size_t>(count, 1))); }

bool is_only_punctuation(std::u32string_view word) {
  return std::ranges::none_of(word, [](char32_t c) { return is_letter(c) || is_number(c); });
}

}  // namespace

std::vector<WordFeatures> word_features(const ScoredText& text) {
  const std::vector<TextSpan> spans = word_spans(text.text);
  const std::vector<ScoredWord> words = scored_words(spans, text.tokens);
  const std::u32string characters = code_points(text.text);
  const double mean = mean_of(text.tokens), least = least_of(words);
  std::vector<WordFeatures> all;
  for (size_t i = 0; i < words.size(); ++i) {
    const double own = words[i].log_probability, previous = i > 0 ? words[i - 1].log_probability : 0,
                 next = i + 1 < words.size() ? words[i + 1].log_probability : 0;
    const auto word = std::u32string_view(characters).substr(spans[i].begin, spans[i].end - spans[i].begin);
    all.push_back({own, root(own), std::exp(own), words[i].least, previous, root(previous), next, root(next),
                   mean, root(mean), least, log_count(words.size()), static_cast<double>(words[i].tokens),
                   is_only_punctuation(word) ? 1.0 : 0.0});
  }
  return all;
}

TextFeatures text_features(const ScoredText& text) {
  const std::vector<ScoredWord> words = scored_words(word_spans(text.text), text.tokens);
  double probabilities = 0;
  for (const ScoredWord& word : words) probabilities += std::exp(word.log_probability);
  const double mean = mean_of(text.tokens), count = static_cast<double>(std::max<size_t>(words.size(), 1));
  return {mean,
          std::exp(mean),
          total_of(text.tokens),
          least_of(words),
          probabilities / count,
          std::log(count),
          std::log(count) - log_count(word_count(text.source))};
}

}  // namespace dragoman::internal
