#include "text/language_tokens.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/options.h"
#include "base/quotes.h"
#include "text/sentence_rules.h"

namespace dragoman::internal {
namespace {

constexpr size_t languages_shown = 8;  // in an error

[[noreturn]] void throw_missing(const std::vector<std::string>& names, const char* key) {
  const size_t shown = std::min(names.size(), languages_shown);
  throw OptionError(
      key, fmt::format("is missing: this model has {} languages, choose one of {}{}", names.size(),
                       fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                       shown < names.size() ? ", ... (dragoman info lists them all)" : ""));
}

}  // namespace

void check_language(const std::string& language, const char* key) {
  if (language.empty() || is_language(language)) return;
  throw OptionError(key, fmt::format("is {}, which is no language's code: write en, pt-BR or fra_Latn",
                                     in_quotes(language)));
}

std::optional<int32_t> language_token(const Vocabulary& vocabulary, const std::string& language,
                                      const char* key) {
  const auto& tokens = vocabulary.languages().tokens;
  if (tokens.empty()) {
    check_language(language, key);
    return {};
  }
  const std::vector<std::string> names = vocabulary.languages().names();
  if (language.empty()) throw_missing(names, key);
  const auto place = std::ranges::find(names, language);
  if (place != names.end()) return tokens[static_cast<size_t>(place - names.begin())].second;
  throw OptionError(key, fmt::format("is {}, not one of the model's {} languages: did you mean {}?",
                                     in_quotes(language), names.size(), nearest(language, names)));
}

bool names_target(const Vocabulary& source) {
  return source.languages().position == Languages::TokenPosition::target_first;
}

std::optional<int32_t> source_language_token(const Vocabulary& source, const std::string& from,
                                             const char* from_key, const std::string& to,
                                             const char* to_key) {
  return names_target(source) ? language_token(source, to, to_key) : language_token(source, from, from_key);
}

std::vector<std::string> source_languages(const Vocabularies& both) {
  // Who need not say the source's language takes any that is also a target.
  return both.source->languages().names();
}

std::vector<std::string> target_languages(const Vocabularies& both) {
  return (names_target(*both.source) ? both.source : both.target)->languages().names();
}

SourceFrame source_frame(const Vocabulary& source, bool end_mark, std::optional<int32_t> language) {
  SourceFrame frame;
  if (end_mark) frame.after.push_back(source.special().end);
  if (!language) return frame;
  switch (source.languages().position) {
    case Languages::TokenPosition::first:
      frame.before.push_back(*language);
      break;
    case Languages::TokenPosition::before_end:
      frame.after.insert(frame.after.begin(), *language);
      break;
    case Languages::TokenPosition::after_end:
      frame.after.push_back(*language);
      break;
    case Languages::TokenPosition::target_first:
      frame.before =
          source.encode(source.piece(*language));  // as a text has it: perhaps with white space before it
      break;
  }
  return frame;
}

StartTokens start_tokens(const Vocabulary& target, std::optional<int32_t> language) {
  std::vector<int32_t> tokens;
  if (!language || !target.languages().replaces_start) tokens.push_back(target.special().start);
  if (language) tokens.push_back(*language);
  tokens.insert(tokens.end(), target.forced_prefix().begin(), target.forced_prefix().end());
  return tokens;
}

}  // namespace dragoman::internal
