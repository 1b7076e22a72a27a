#include "search/unlikely.h"

#include <algorithm>
#include <string>

#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr size_t few_words = 3;

// Good translations of sentences are above both. What has no word, such as a number, a symbol or a lone letter, should
// come out as it is, and the model is sure of that once it has learned it.
constexpr double least_of_words = 0.2, least_without_words = 0.5;

bool has_word(std::string_view text) {
  const std::u32string all = code_points(text);
  return std::ranges::count_if(all, [](char32_t c) {
           return !is_space(c) && !is_punctuation(c) && !is_symbol(c) && !is_number(c);
         }) > 1;
}

}  // namespace

bool has_few_words(std::string_view source) {
  const size_t words = word_count(source);
  return words > 0 && words <= few_words;
}

bool is_unlikely(std::string_view source, std::string_view translation, double confidence) {
  if (!has_few_words(source) || translation == source) return false;
  return confidence < (has_word(source) ? least_of_words : least_without_words);
}

}  // namespace dragoman::internal
