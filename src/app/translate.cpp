// dragoman translate: a line of output for each line of input, as soon as it is known.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/translating.h"
#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "report/line_json.h"

namespace dragoman {
namespace {

enum class OutputFormat { text, json };

struct TranslateOptions {
  TranslatingOptions translating;
  std::string prefix;
  OutputFormat format = OutputFormat::text;
  bool pieces = false;
  bool alignment = false;
  bool attention = false;
};

void declare(Options& options, TranslateOptions& o) {
  auto own = options.section("", "Which model, and what to print");
  declare_models_and_batch(own, o.translating);
  own.add("prefix", o.prefix,
          "a file of how each translation begins, line by line; that of an empty line stays empty");
  own.add("prefix-bias", o.translating.search.prefix_bias,
          "B: while it is followed, p becomes (1 - B)*p, plus B for its next piece; 1: it is forced",
          above(0).at_most(1));
  own.add("format", o.format, "a line of text, or an object with scores, flags and alternatives",
          {{"text", OutputFormat::text}, {"json", OutputFormat::json}});
  own.add("pieces", o.pieces, "print the pieces that the model says, not the text that they make");
  own.add("alignment", o.alignment,
          "print which word comes from which: after |||, as pairs SOURCE-TARGET; in JSON with their places");
  own.add("attention", o.attention, "in JSON: how much each piece attended to each piece of its source");
}

std::string text_of(const Translation& translation, bool pieces) {
  if (!pieces) return translation.text;
  std::vector<std::string_view> parts;
  for (const ScoredPiece& piece : translation.pieces) parts.push_back(piece.piece);
  return fmt::format("{}", fmt::join(parts, " "));
}

class Printer {
 public:
  explicit Printer(const TranslateOptions& options) : options_(options) {}

  void print(const TranslatedLine& line) {
    const bool alternatives = options_.translating.search.nbest > 1;
    if (options_.format == OutputFormat::json) {
      std::cout << to_json(line, {alternatives, options_.alignment, options_.attention}) << "\n";
    } else if (alternatives) {
      for (const Translation& translation : line.translations) {
        std::cout << fmt::format("{} ||| {} ||| {:.4f}{}\n", number_, text_of(translation, options_.pieces),
                                 translation.score, alignment_of(translation));
      }
    } else {
      const Translation& best = line.translations[0];
      std::cout << text_of(best, options_.pieces) << alignment_of(best) << "\n";
    }
    ++number_;
    invalid_ += line.invalid;
    cut_ += line.cut;
    repeats_ += line.repeats;
    flush_output();
  }

  void finish() const {
    if (invalid_ > 0) {
      log_warning("{} of {} lines are no UTF-8, and were read with U+FFFD where they are none", invalid_,
                  number_);
    }
    if (cut_ + repeats_ == 0 || options_.format == OutputFormat::json) return;
    log_warning("of {} lines {} were cut, {} looped and were translated again: --format json says which",
                number_, cut_, repeats_);
  }

 private:
  std::string alignment_of(const Translation& translation) const {
    return options_.alignment ? " ||| " + pharaoh(translation.alignment) : "";
  }

  const TranslateOptions& options_;
  int64_t number_ = 0, invalid_ = 0, cut_ = 0, repeats_ = 0;
};

}  // namespace

void translate(const Arguments& arguments) {
  TranslateOptions o;
  std::vector<std::string> files;
  Options options, search;
  declare(options, o);
  auto section = search.section("", "How to search");
  declare(section, o.translating.search);
  CommandLine line("translate", "translate text, a line for each line");
  line.add_arguments("FILE", files, "plain, .gz or .zst; standard input where there is none",
                     /*required=*/false);
  line.add_options(options);
  line.add_options(search);
  if (!line.parse(arguments)) return;
  line.set_flags();
  if (o.translating.models.empty())
    throw UsageError("translate needs --model DIR: see dragoman translate --help");
  if (o.attention && o.format == OutputFormat::text)
    throw UsageError("attention is a matrix, which a line of text cannot hold: add --format json");
  if (o.pieces && o.format == OutputFormat::json)
    throw UsageError("--pieces has no effect with --format json, where each line has them as its tokens");
  o.translating.search.alignment = o.alignment || o.attention;
  search.check([&] { validate(o.translating.search); });
  if (o.translating.search.prefix_bias != 1 && o.prefix.empty())
    throw UsageError("--prefix-bias has no effect without --prefix FILE");
  if (o.prefix == "-" && (files.empty() || std::ranges::count(files, "-") > 0))
    throw UsageError("standard input has the lines to translate: --prefix must be a file");
  watch_signals();

  TranslationInput input(files, o.prefix);
  Printer printer(o);
  translate_lines(o.translating, input, [&](const TranslatedLine& done) { printer.print(done); });
  printer.finish();
}

}  // namespace dragoman
