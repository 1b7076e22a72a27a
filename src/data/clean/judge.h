// PairJudge: what is wrong with a pair by itself. Whether it is a duplicate, or unlikely by a model, others find out.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "data/clean/side_facts.h"
#include "data/cleaning_settings.h"

namespace dragoman::internal {

class PairJudge {
 public:
  // The settings must outlive it.
  explicit PairJudge(const CleaningSettings& settings);

  // What the text is like: in which scripts, and how long a target is beside its source. To be called once, before any
  // judgement, with the first pairs.
  void learn(std::span<const TextPair> pairs);

  // From any thread.
  Fault judge(const TextPair& pair) const;

 private:
  bool is_foreign(const ScriptCounts& counts, const Scripts& own) const;
  bool is_uneven(const SideFacts& source, const SideFacts& target) const;
  bool is_copy(const TextPair& pair, const SideFacts& source) const;
  bool is_other_language(const std::string& text, const SideFacts& facts, const std::string& label) const;
  bool has_few_letters(const SideFacts& facts) const;
  bool is_too_long(const SideFacts& facts) const;
  Fault judge_text(const TextPair& pair, const SideFacts& source, const SideFacts& target) const;

  const CleaningSettings& settings_;
  const CleaningRules& rules_;
  Scripts source_scripts_, target_scripts_;
  std::string source_label_, target_label_;  // as the identifier calls the languages; empty: not checked
  double proportion_ = 1;                    // characters of targets for each one of sources
};

}  // namespace dragoman::internal
