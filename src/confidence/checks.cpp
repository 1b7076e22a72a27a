#include "confidence/checks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "confidence/names.h"
#include "confidence/negation.h"
#include "confidence/other_language.h"
#include "confidence/words.h"
#include "document/numbers.h"
#include "document/placeholders.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

void check_numbers(std::string_view source, std::string_view translation, std::vector<Finding>& findings) {
  for (const TextSpan& place : changed_numbers(source, translation))
    findings.push_back({Check::numbers, false, std::string(place.of(source))});
  for (const TextSpan& place : changed_numbers(translation, source))
    findings.push_back({Check::numbers, true, std::string(place.of(translation))});
}

void check_placeholders(std::string_view source, std::string_view translation,
                        std::vector<Finding>& findings) {
  const auto ours = sorted_placeholders(source), theirs = sorted_placeholders(translation);
  std::vector<std::string_view> missing, extra;
  std::ranges::set_difference(ours, theirs, std::back_inserter(missing));
  std::ranges::set_difference(theirs, ours, std::back_inserter(extra));
  for (const std::string_view one : missing)
    findings.push_back({Check::placeholders, false, std::string(one)});
  for (const std::string_view one : extra) findings.push_back({Check::placeholders, true, std::string(one)});
}

using Words = std::vector<std::u32string>;

Words lower_words(std::string_view text) {
  const std::u32string all = lower_case(code_points(text));
  Words words;
  for (const std::u32string_view word : split_words(all)) words.emplace_back(without_punctuation(word));
  return words;
}

// The longest phrase that stands three times in a row or more: where it begins, and its length in words; 0: none does.
std::pair<size_t, size_t> repeated_phrase(const Words& words) {
  constexpr size_t times = 3, longest_phrase = 8;
  for (size_t length = std::min(words.size() / times, longest_phrase); length > 0; --length) {
    size_t same = 0;  // words that equal those a phrase before
    for (size_t i = length; i < words.size(); ++i) {
      same = words[i] == words[i - length] ? same + 1 : 0;
      if (same == (times - 1) * length) return {i + 1 - times * length, length};
    }
  }
  return {0, 0};
}

void check_repetition(const Words& source, const Words& translation, std::vector<Finding>& findings) {
  const auto [begin, length] = repeated_phrase(translation);
  if (length == 0 || repeated_phrase(source).second > 0) return;
  std::string phrase;
  for (size_t i = begin; i < begin + length; ++i) {
    if (!phrase.empty()) phrase += ' ';
    phrase += to_utf8(translation[i]);
  }
  findings.push_back({Check::repetition, true, std::move(phrase)});
}

// Names and numbers stay as they are in any translation: with few words that may be all of it.
void check_untranslated(Words source, Words translation, std::vector<Finding>& findings) {
  constexpr size_t few_words = 4;
  if (translation.size() < few_words) return;
  std::ranges::sort(source);
  const auto copied = std::ranges::count_if(
      translation, [&](const std::u32string& word) { return std::ranges::binary_search(source, word); });
  if (static_cast<size_t>(copied) * 3 > translation.size() * 2)
    findings.push_back({Check::untranslated, true, ""});
}

void check_names(std::string_view source, std::string_view translation, std::vector<Finding>& findings) {
  for (std::string& name : missing_names(source, translation))
    findings.push_back({Check::names, false, std::move(name)});
}

void check_negation(std::string_view source, std::string_view translation, const std::string& from,
                    const std::string& to, std::vector<Finding>& findings) {
  const NegationWords* ours = negation_words(from);
  const NegationWords* theirs = negation_words(to);
  if (ours == nullptr || theirs == nullptr) return;
  const FoundNegation before = find_negation(source, *ours), after = find_negation(translation, *theirs);
  if (!before.certain.empty() && !after.possible)
    findings.push_back({Check::negation, false, before.certain});
  if (!after.certain.empty() && !before.possible) findings.push_back({Check::negation, true, after.certain});
}

void check_output_language(std::string_view translation, const std::string& to,
                           std::vector<Finding>& findings) {
  if (std::string other = other_language(translation, to); !other.empty())
    findings.push_back({Check::wrong_language, true, std::move(other)});
}

}  // namespace

const char* name_of(Check check) {
  switch (check) {
    case Check::numbers:
      return "numbers";
    case Check::placeholders:
      return "placeholders";
    case Check::names:
      return "names";
    case Check::negation:
      return "negation";
    case Check::repetition:
      return "repetition";
    case Check::untranslated:
      return "untranslated";
    case Check::wrong_language:
      break;
  }
  return "wrong_language";
}

std::string description_of(const Finding& finding) {
  switch (finding.check) {
    case Check::repetition:
      return fmt::format("“{}” again and again", finding.text);
    case Check::untranslated:
      return "most words are the source's";
    case Check::wrong_language:
      return fmt::format("probably in {}", english_name_of(finding.text));
    default:
      return fmt::format("“{}” is {}", finding.text, finding.extra ? "not in the source" : "missing");
  }
}

std::vector<Finding> check_translation(std::string_view source, std::string_view translation,
                                       const std::string& from, const std::string& to) {
  std::vector<Finding> findings;
  check_output_language(translation, to, findings);
  if (source == translation) return findings;
  check_numbers(source, translation, findings);
  check_placeholders(source, translation, findings);
  check_names(source, translation, findings);
  check_negation(source, translation, from, to, findings);
  const Words ours = lower_words(source), theirs = lower_words(translation);
  check_repetition(ours, theirs, findings);
  check_untranslated(ours, theirs, findings);
  return findings;
}

}  // namespace dragoman::internal
