// The options of cleaning, and what its counts are called.
#include <algorithm>
#include <string>

#include "data/cleaning_rules.h"

namespace dragoman::internal {
namespace {

struct FaultNames {
  const char *name, *description;
};

constexpr std::array<FaultNames, fault_count> fault_names = {{
    {"kept", "kept"},
    {"invalid", "invalid: not UTF-8, a NUL byte, or a missing column"},
    {"empty", "with an empty side"},
    {"encoding", "in a wrong encoding, such as Ã© for é"},
    {"no_words", "with a side that has no words"},
    {"symbols", "with too few letters"},
    {"script", "with letters of another script"},
    {"too_long", "too long"},
    {"ratio", "with sides of very different lengths"},
    {"copy", "with the same words on both sides"},
    {"numbers", "with different numbers"},
    {"language", "in another language"},
    {"duplicate", "seen before"},
    {"score", "that the model finds unlikely"},
}};

}  // namespace

const char* name_of(Fault fault) { return fault_names[static_cast<size_t>(fault)].name; }
const char* description_of(Fault fault) { return fault_names[static_cast<size_t>(fault)].description; }

void declare(Section& section, CleaningRules& rules, OptionSpelling spelling) {
  const auto named = [&](std::string name) {
    if (spelling == OptionSpelling::keys) std::ranges::replace(name, '-', '_');
    return name;
  };
  section.add(named("encoding").c_str(), rules.encoding,
              "leave out pairs with U+FFFD, control characters, or UTF-8 read as another encoding");
  section.add(named("no-words").c_str(), rules.no_words,
              "leave out pairs with a side of only numbers, punctuation, addresses and markup");
  section.add(named("min-letters").c_str(), rules.min_letters,
              "least share of letters among a side's characters, without white space; 0: any",
              at_least(0).at_most(1));
  section.add(named("max-foreign").c_str(), rules.max_foreign,
              "largest share of a side's letters that are of other scripts than its language's; 0: any",
              at_least(0).at_most(1));
  section.add(named("max-words").c_str(), rules.max_words, "most words of a side; 0: any", at_least(0));
  section.add(named("max-length").c_str(), rules.max_length, "most characters of a side; 0: any",
              at_least(0));
  section.add(
      named("max-ratio").c_str(), rules.max_ratio,
      "most characters of a side for each one of the other, after 10 more for both, and after scaling "
      "by the ratio of the first pairs; 0: any",
      at_least(0));
  section.add(named("copy-words").c_str(), rules.copy_words,
              "leave out pairs with the same words on both sides, this many or more; 0: none", at_least(0));
  section.add(named("numbers").c_str(), rules.numbers,
              "leave out pairs whose numbers differ; they may be in words, and with other separators");
  section.add(named("min-language").c_str(), rules.min_language,
              "least probability of a side's language, by the detector; 0: any", at_least(0).at_most(1));
  section.add(
      named("duplicates").c_str(), rules.duplicates,
      "keep only the first pair of those with equal sides, or with an equal source, target, or either",
      {{"pair", Duplicates::pair},
       {"source", Duplicates::source},
       {"target", Duplicates::target},
       {"either", Duplicates::either},
       {"none", Duplicates::none}});
  section.add(named("min-score").c_str(), rules.min_score,
              "least mean log-probability of a token, by the model; 0: any", at_least(-1000).at_most(0));
}

}  // namespace dragoman::internal
