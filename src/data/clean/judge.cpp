#include "data/clean/judge.h"

#include <algorithm>
#include <numeric>

#include <unicode/locid.h>

#include "base/error.h"
#include "data/clean/numbers.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr double share_of_own_script = 0.2;  // of the first pairs' letters: names in other scripts are fewer
constexpr double characters_for_free = 10;   // of each side, before their ratio counts
constexpr int64_t letters_to_identify = 20;  // with fewer, languages are often taken for others

// What the identifier calls a language, which may be "fra_Latn" here.
std::string label_of_language(const LanguageIdentifier* identifier, const std::string& language) {
  if (identifier == nullptr || language.empty()) return "";
  std::string label = icu::Locale(language.c_str()).getLanguage();
  if (label == "nb") label = "no";
  if (label == "fil") label = "tl";
  for (const auto& [known, probability] : identifier->probabilities("a"))
    if (known == label) return label;
  throw Error("the language detector does not know {}: leave it out, or correct the code", language);
}

void add_own_scripts(const ScriptCounts& counts, Scripts& scripts) {
  const auto letters = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  for (size_t i = 0; i < counts.size(); ++i)
    scripts[i] =
        scripts[i] || (counts[i] > 0 && static_cast<double>(counts[i]) >= share_of_own_script * letters);
}

double probability_of(const LanguageIdentifier& identifier, const std::string& text,
                      const std::string& label) {
  for (const auto& [known, probability] : identifier.probabilities(line_to_identify(text)))
    if (known == label) return probability;
  return 0;
}

}  // namespace

PairJudge::PairJudge(const CleaningSettings& settings)
    : settings_(settings),
      rules_(settings.rules),
      source_scripts_(scripts_of_language(settings.from)),
      target_scripts_(scripts_of_language(settings.to)),
      source_label_(label_of_language(settings.identifier, settings.from)),
      target_label_(label_of_language(settings.identifier, settings.to)) {}

void PairJudge::learn(std::span<const TextPair> pairs) {
  ScriptCounts source_letters = {}, target_letters = {};
  double source = 0, target = 0;
  for (const TextPair& pair : pairs) {
    source += static_cast<double>(facts_of(pair.source, source_letters).characters);
    target += static_cast<double>(facts_of(pair.target, target_letters).characters);
  }
  add_own_scripts(source_letters, source_scripts_);
  add_own_scripts(target_letters, target_scripts_);
  if (source > 0 && target > 0) proportion_ = target / source;
}

Fault PairJudge::judge(const TextPair& pair) const {
  if (is_blank(pair.source) || is_blank(pair.target)) return Fault::empty;
  ScriptCounts source_letters = {}, target_letters = {};
  const SideFacts source = facts_of(pair.source, source_letters),
                  target = facts_of(pair.target, target_letters);
  if (rules_.encoding && (source.damaged || target.damaged)) return Fault::encoding;
  if (rules_.no_words && (!has_words(pair.source) || !has_words(pair.target))) return Fault::no_words;
  if (has_few_letters(source) || has_few_letters(target)) return Fault::symbols;
  if (is_foreign(source_letters, source_scripts_) || is_foreign(target_letters, target_scripts_))
    return Fault::script;
  if (is_too_long(source) || is_too_long(target)) return Fault::too_long;
  if (is_uneven(source, target)) return Fault::ratio;
  return judge_text(pair, source, target);
}

// The rules that take longer.
Fault PairJudge::judge_text(const TextPair& pair, const SideFacts& source, const SideFacts& target) const {
  if (is_copy(pair, source)) return Fault::copy;
  if (rules_.numbers && numbers_differ(pair.source, pair.target)) return Fault::numbers;
  if (is_other_language(pair.source, source, source_label_) ||
      is_other_language(pair.target, target, target_label_))
    return Fault::language;
  return Fault::none;
}

bool PairJudge::has_few_letters(const SideFacts& facts) const {
  return static_cast<double>(facts.letters) < rules_.min_letters * static_cast<double>(facts.visible);
}

bool PairJudge::is_too_long(const SideFacts& facts) const {
  return (rules_.max_words > 0 && facts.words > rules_.max_words) ||
         (rules_.max_length > 0 && facts.characters > rules_.max_length);
}

bool PairJudge::is_foreign(const ScriptCounts& counts, const Scripts& own) const {
  if (rules_.max_foreign == 0) return false;
  int64_t letters = 0, foreign = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    letters += counts[i];
    foreign += own[i] ? 0 : counts[i];
  }
  return static_cast<double>(foreign) > rules_.max_foreign * static_cast<double>(letters);
}

bool PairJudge::is_uneven(const SideFacts& source, const SideFacts& target) const {
  const auto [shorter, longer] = std::minmax(
      {static_cast<double>(source.characters) * proportion_, static_cast<double>(target.characters)});
  return rules_.max_ratio > 0 &&
         longer + characters_for_free > rules_.max_ratio * (shorter + characters_for_free);
}

bool PairJudge::is_copy(const TextPair& pair, const SideFacts& source) const {
  return rules_.copy_words > 0 && source.words >= rules_.copy_words &&
         bare_words(pair.source) == bare_words(pair.target);
}

// Text in capitals is read in small letters, too: the identifier has seen few capitals.
bool PairJudge::is_other_language(const std::string& text, const SideFacts& facts,
                                  const std::string& label) const {
  if (label.empty() || rules_.min_language == 0 || facts.letters < letters_to_identify) return false;
  const LanguageIdentifier& identifier = *settings_.identifier;
  return probability_of(identifier, text, label) < rules_.min_language &&
         probability_of(identifier, to_utf8(lower_case(code_points(text))), label) < rules_.min_language;
}

}  // namespace dragoman::internal
