#include "dragoman/metrics.h"

#include "api/guard.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace dragoman {
namespace {

void check_lengths(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  if (hypotheses.size() == references.size()) return;
  throw internal::UsageError("there are {} hypotheses and {} references: each needs its own",
                             hypotheses.size(), references.size());
}

internal::Tokenizer tokenizer_named(const std::string& name) {
  if (name == "13a") return internal::Tokenizer::thirteen_a;
  if (name == "intl") return internal::Tokenizer::international;
  if (name == "char") return internal::Tokenizer::characters;
  if (name == "none") return internal::Tokenizer::none;
  throw internal::UsageError("unknown tokenizer {}: use 13a, intl, char or none", name);
}

}  // namespace

CorpusScore bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
                 const MetricSettings& settings) {
  return internal::guarded([&]() -> CorpusScore {
    check_lengths(hypotheses, references);
    const internal::BleuOptions options = {tokenizer_named(settings.tokenizer), settings.lowercase};
    internal::BleuStatistics sums;
    for (size_t i = 0; i < hypotheses.size(); ++i)
      sums += internal::bleu_statistics(hypotheses[i], references[i], options);
    const internal::BleuScore score = internal::bleu_score(sums);
    return {score.score, "BLEU", internal::bleu_signature(options), score.details()};
  });
}

CorpusScore chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
                 const MetricSettings& settings) {
  return internal::guarded([&]() -> CorpusScore {
    check_lengths(hypotheses, references);
    if (settings.word_order < 0 || settings.word_order > 4)
      throw internal::UsageError("word_order is {}, but must be from 0 to 4", settings.word_order);
    const internal::ChrfOptions options = {settings.word_order, settings.lowercase};
    internal::ChrfStatistics sums;
    for (size_t i = 0; i < hypotheses.size(); ++i)
      sums += internal::chrf_statistics(hypotheses[i], references[i], options);
    return {internal::chrf_score(sums), internal::chrf_name(options), internal::chrf_signature(options), ""};
  });
}

}  // namespace dragoman
