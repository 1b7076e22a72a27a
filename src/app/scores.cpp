#include "app/scores.h"

#include <nlohmann/json.hpp>

namespace dragoman::internal {

void declare(Section& own, ScoreOptions& scores) {
  own.add("lowercase", scores.lowercase, "ignore case");
  own.add("tokenizer", scores.tokenizer, "tokenizer of BLEU, as in sacreBLEU",
          {{"13a", Tokenizer::thirteen_a},
           {"intl", Tokenizer::international},
           {"zh", Tokenizer::chinese},
           {"char", Tokenizer::characters},
           {"none", Tokenizer::none}});
  own.add("chrf-word-order", scores.word_order, "longest word n-grams of chrF; 2: chrF++",
          at_least(0).at_most(4));
  own.add("digits", scores.digits, "digits after the decimal point", at_least(0).at_most(10));
  own.add("ter", scores.ter, "also print TER, the edits that make the reference of it, per 100 words");
  own.add("exact-match", scores.exact_match,
          "also print the percentage of lines that are exactly the reference");
  declare_format(own, scores.format, "one line per metric, or sacreBLEU's JSON");
}

double as_printed(double value, int64_t digits) { return std::stod(fmt::format("{:.{}f}", value, digits)); }

void Scores::add(std::string_view hypothesis, std::string_view reference) {
  bleu_ += bleu_statistics(hypothesis, reference, options_.bleu());
  chrf_ += chrf_statistics(hypothesis, reference, options_.chrf());
  if (options_.ter) ter_ += ter_statistics(hypothesis, reference);
  matches_.add(hypothesis, reference);
}

std::string Scores::print() const {
  return options_.format == OutputFormat::json ? json().dump(1) + "\n" : text();
}

std::string Scores::text() const {
  const BleuScore bleu = bleu_score(bleu_);
  const std::string exact_match =
      options_.exact_match ? fmt::format("exact match = {:.{}f} ({} of {})\n", matches_.percentage(),
                                         options_.digits, matches_.exact, matches_.all)
                           : "";
  const std::string ter = options_.ter ? fmt::format("TER|{} = {:.{}f}\n", ter_signature({}),
                                                     ter_score(ter_).score, options_.digits)
                                       : "";
  return fmt::format("BLEU|{} = {:.{}f} {}\n{}|{} = {:.{}f}\n", bleu_signature(options_.bleu()), bleu.score,
                     options_.digits, bleu.details(), chrf_name(options_.chrf()),
                     chrf_signature(options_.chrf()), chrf_score(chrf_), options_.digits) +
         ter + exact_match;
}

nlohmann::ordered_json Scores::json() const {
  const BleuScore bleu = bleu_score(bleu_);
  nlohmann::ordered_json all = {{{"name", "BLEU"},
                                 {"score", as_printed(bleu.score, options_.digits)},
                                 {"signature", bleu_signature(options_.bleu())},
                                 {"verbose_score", bleu.details()}},
                                {{"name", chrf_name(options_.chrf())},
                                 {"score", as_printed(chrf_score(chrf_), options_.digits)},
                                 {"signature", chrf_signature(options_.chrf())}}};
  if (options_.ter)
    all.push_back({{"name", "TER"},
                   {"score", as_printed(ter_score(ter_).score, options_.digits)},
                   {"signature", ter_signature({})}});
  if (options_.exact_match)
    all.push_back({{"name", "exact match"}, {"score", as_printed(matches_.percentage(), options_.digits)}});
  return all;
}

}  // namespace dragoman::internal
