#include "dragoman/metrics.h"

#include <string_view>

#include "api/guard.h"
#include "metrics/significance.h"

namespace dragoman {
namespace {

using Sentences = std::span<const std::string>;

// Each has a reference of every hypothesis.
using ReferenceLists = std::vector<Sentences>;

void check_lengths(Sentences hypotheses, const ReferenceLists& references) {
  if (references.empty()) throw internal::UsageError("there are no references: each hypothesis needs one");
  for (const Sentences& list : references) {
    if (hypotheses.size() == list.size()) continue;
    throw internal::UsageError("there are {} hypotheses and {} references: each needs its own",
                               hypotheses.size(), list.size());
  }
}

internal::MetricOptions options_of(const MetricSettings& s) {
  if (s.word_order < 0 || s.word_order > 4)
    throw internal::UsageError("word_order is {}, but must be from 0 to 4", s.word_order);
  const internal::Tokenizer tokenizer = internal::tokenizer_named(s.tokenizer);
  return {.bleu = {.tokenizer = tokenizer,
                   .lowercase = s.lowercase,
                   .subwords = internal::subwords_for(tokenizer, s.tokenizer_model)},
          .chrf = {.word_order = s.word_order, .lowercase = s.lowercase},
          .ter = {.normalized = s.ter_normalized,
                  .no_punctuation = s.ter_no_punctuation,
                  .asian_support = s.ter_asian_support,
                  .case_sensitive = s.ter_case_sensitive}};
}

std::vector<std::string_view> references_of(const ReferenceLists& references, size_t sentence) {
  std::vector<std::string_view> texts;
  for (const Sentences& list : references) texts.push_back(list[sentence]);
  return texts;
}

CorpusScore corpus_score(const char* name, Sentences hypotheses, const ReferenceLists& references,
                         const MetricSettings& settings) {
  return internal::guarded([&]() -> CorpusScore {
    check_lengths(hypotheses, references);
    const auto metric = internal::metric_named(name, options_of(settings));
    internal::MetricSums sums;
    for (size_t i = 0; i < hypotheses.size(); ++i)
      internal::add_to(sums, metric->statistics(hypotheses[i], references_of(references, i)));
    return {metric->score(sums), metric->name(), metric->signature(references.size()), metric->details(sums)};
  });
}

internal::PairedTest paired_test_named(const std::string& name) {
  if (name == "bs") return internal::PairedTest::bootstrap;
  if (name == "ar") return internal::PairedTest::randomization;
  throw internal::UsageError("there is no paired test {}: use bs (bootstrap) or ar (randomization)", name);
}

SystemScore system_score(double score, const internal::Confidence& confidence) {
  return {score, confidence.mean, confidence.half_width};
}

PairedComparison compared(Sentences baseline, Sentences system, const ReferenceLists& references,
                          const PairedSettings& paired, const MetricSettings& settings) {
  return internal::guarded([&]() -> PairedComparison {
    check_lengths(baseline, references);
    check_lengths(system, references);
    if (system.empty()) throw internal::UsageError("there is no sentence to compare the systems by");
    if (paired.samples < 0)
      throw internal::UsageError("samples is {}, but must be at least 0", paired.samples);
    const internal::PairedTest test = paired_test_named(paired.test);
    const auto metric = internal::metric_named(paired.metric, options_of(settings));
    internal::SentenceStatistics theirs(metric), ours(metric);
    for (size_t i = 0; i < system.size(); ++i) {
      const std::vector<std::string_view> texts = references_of(references, i);
      theirs.add(baseline[i], texts);
      ours.add(system[i], texts);
    }
    const int64_t samples = paired.samples > 0 ? paired.samples : internal::default_samples(test);
    const int64_t resamples = test == internal::PairedTest::bootstrap ? samples : internal::default_resamples;
    const auto result = internal::paired_test(test, theirs, ours, samples, paired.seed);
    return {.baseline =
                system_score(theirs.score(), internal::bootstrap_confidence(theirs, resamples, paired.seed)),
            .system = system_score(result.score, result.confidence),
            .p_value = result.p_value};
  });
}

}  // namespace

CorpusScore bleu(Sentences hypotheses, References references, const MetricSettings& settings) {
  return corpus_score("bleu", hypotheses, {references}, settings);
}

CorpusScore bleu(Sentences hypotheses, SeveralReferences references, const MetricSettings& settings) {
  return corpus_score("bleu", hypotheses, {references.begin(), references.end()}, settings);
}

CorpusScore chrf(Sentences hypotheses, References references, const MetricSettings& settings) {
  return corpus_score("chrf", hypotheses, {references}, settings);
}

CorpusScore chrf(Sentences hypotheses, SeveralReferences references, const MetricSettings& settings) {
  return corpus_score("chrf", hypotheses, {references.begin(), references.end()}, settings);
}

CorpusScore ter(Sentences hypotheses, References references, const MetricSettings& settings) {
  return corpus_score("ter", hypotheses, {references}, settings);
}

CorpusScore ter(Sentences hypotheses, SeveralReferences references, const MetricSettings& settings) {
  return corpus_score("ter", hypotheses, {references.begin(), references.end()}, settings);
}

std::vector<std::string> bleu_tokenizers() {
  std::vector<std::string> names;
  for (const auto& [name, tokenizer] : internal::tokenizers()) names.push_back(name);
  return names;
}

PairedComparison compare_systems(Sentences baseline, Sentences system, References references,
                                 const PairedSettings& paired, const MetricSettings& settings) {
  return compared(baseline, system, {references}, paired, settings);
}

PairedComparison compare_systems(Sentences baseline, Sentences system, SeveralReferences references,
                                 const PairedSettings& paired, const MetricSettings& settings) {
  return compared(baseline, system, {references.begin(), references.end()}, paired, settings);
}

}  // namespace dragoman
