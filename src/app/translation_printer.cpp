#include "app/translation_printer.h"

#include <iostream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/output.h"
#include "base/log.h"
#include "serve/translation_json.h"

namespace dragoman::internal {
namespace {

// What a memory has as a whole has no pieces where alignments are asked for.
std::string text_of(const dragoman::Hypothesis& hypothesis, bool pieces) {
  if (!pieces || hypothesis.tokens.empty()) return hypothesis.text;
  std::vector<std::string_view> subwords;
  for (const Token& token : hypothesis.tokens) subwords.push_back(token.text);
  return fmt::format("{}", fmt::join(subwords, " "));
}

}  // namespace

void TranslationPrinter::print(const dragoman::Translation& line) {
  if (options_.format == OutputFormat::json) {
    print_json(std::cout, line,
               {.alternatives = options_.alternatives,
                .alignment = options_.alignment,
                .attention = options_.attention,
                .words = options_.confidence,
                .memory = options_.memory,
                .findings = options_.confidence,
                .from = options_.languages.from,
                .to = options_.languages.to});
    std::cout << "\n";
  } else if (options_.alternatives) {
    for (const dragoman::Hypothesis& hypothesis : line.hypotheses) {
      std::cout << fmt::format("{} ||| {} ||| {:.4f}{}\n", number_, text_of(hypothesis, options_.pieces),
                               hypothesis.score, alignment_of(hypothesis));
    }
  } else {
    const dragoman::Hypothesis& best = line.hypotheses[0];
    std::cout << text_of(best, options_.pieces) << alignment_of(best) << "\n";
  }
  ++number_;
  invalid_ += line.invalid;
  cut_ += line.cut;
  repeats_ += line.repeats;
  too_short_ += line.too_short;
  unlikely_ += line.unlikely;
  unknown_ += line.unknown;
  terms_missed_ += line.terms_missed;
  flush_output();
}

void TranslationPrinter::finish() const {
  warn(invalid_, "were not valid UTF-8; invalid bytes were replaced by U+FFFD");
  if (options_.format == OutputFormat::json) return;  // which flags them
  warn(cut_, "were cut; --format json flags them");
  warn(repeats_, "looped and were translated again; --format json flags them");
  warn(too_short_,
       "came out far shorter than their source, of which parts may be missing; --format json flags them");
  warn(unlikely_,
       "are a few words whose translation probably has nothing to do with them; --keep-source gives them "
       "back, "
       "--format json flags them");
  warn(unknown_, "have characters that are not in the vocabulary; --format json flags them");
  warn(terms_missed_, "are missing a glossary term; --format json flags them");
}

void TranslationPrinter::warn(int64_t count, std::string_view what) const {
  if (count > 0) log_warning("{} of {} lines {}", count, number_, what);
}

std::string TranslationPrinter::alignment_of(const dragoman::Hypothesis& hypothesis) const {
  return options_.alignment ? " ||| " + pharaoh_format(hypothesis.alignment) : "";
}

}  // namespace dragoman::internal
