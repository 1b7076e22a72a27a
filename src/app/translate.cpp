// dragoman translate: one line of output per line of input, as soon as it is ready.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/options.h"
#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/shared_options.h"
#include "app/translate_document.h"
#include "app/translating.h"
#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/status_line.h"
#include "serve/translation_json.h"

namespace dragoman::internal {
namespace {

struct TranslateOptions {
  TranslatingOptions translating;
  std::string prefix;
  OutputFormat format = OutputFormat::text;
  bool pieces = false;
  bool alignment = false;
  bool attention = false;
  DocumentOptions document;
};

void declare(Options& options, TranslateOptions& o) {
  auto own = options.section("", "Options");
  declare_models_and_batch(own, o.translating);
  own.add("prefix", o.prefix,
          "file with the beginning of each translation, one per line; empty input lines stay empty");
  declare_prefix_bias(own, o.translating.search);
  own.add("glossary", o.translating.glossary,
          "glossary whose translations the output must use: tab-separated or TBX");
  declare_format(own, o.format, "lines of text, or JSON objects with scores, flags and alternatives");
  own.add("pieces", o.pieces, "print the output as subwords instead of text");
  own.add("alignment", o.alignment,
          "print the word alignment: after |||, as pairs SOURCE-TARGET; in JSON with positions in the text");
  own.add("attention", o.attention, "in JSON: how much each output subword attended to each source subword");
  declare(own, o.document);
}

// What is for lines of text, and has no meaning for a document.
void check_document(const TranslateOptions& o, bool files) {
  if (o.document.document.empty()) {
    if (!o.document.out.empty() || !o.document.format.empty() || !o.document.columns.empty())
      throw UsageError("--out, --document-format and --columns have no effect without --document FILE");
    return;
  }
  if (files) throw UsageError("--document {} cannot be combined with other input files", o.document.document);
  if (!o.prefix.empty() || o.pieces || o.alignment || o.attention || o.format != OutputFormat::text ||
      o.translating.search.nbest > 1)
    throw UsageError(
        "--prefix, --pieces, --alignment, --attention, --format and --nbest have no effect with --document");
}

std::string text_of(const dragoman::Hypothesis& hypothesis, bool pieces) {
  if (!pieces) return hypothesis.text;
  std::vector<std::string_view> subwords;
  for (const Token& token : hypothesis.tokens) subwords.push_back(token.text);
  return fmt::format("{}", fmt::join(subwords, " "));
}

class TranslationPrinter {
 public:
  explicit TranslationPrinter(const TranslateOptions& options) : options_(options) {}

  void print(const dragoman::Translation& line) {
    const bool alternatives = options_.translating.search.nbest > 1;
    if (options_.format == OutputFormat::json) {
      print_json(std::cout, line, {alternatives, options_.alignment, options_.attention});
      std::cout << "\n";
    } else if (alternatives) {
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
    unknown_ += line.unknown;
    terms_missed_ += line.terms_missed;
    flush_output();
  }

  void finish() const {
    if (invalid_ > 0) {
      log_warning("{} of {} lines were not valid UTF-8; invalid bytes were replaced by U+FFFD", invalid_,
                  number_);
    }
    if (options_.format == OutputFormat::json) return;  // which flags them
    if (cut_ + repeats_ > 0) {
      log_warning(
          "of {} lines, {} were cut and {} looped and were translated again; --format json flags them",
          number_, cut_, repeats_);
    }
    if (unknown_ > 0) {
      log_warning("{} of {} lines have characters that are not in the vocabulary: --format json flags them",
                  unknown_, number_);
    }
    if (terms_missed_ > 0) {
      log_warning("{} of {} lines are missing a glossary term; --format json flags them", terms_missed_,
                  number_);
    }
  }

 private:
  std::string alignment_of(const dragoman::Hypothesis& hypothesis) const {
    return options_.alignment ? " ||| " + pharaoh_format(hypothesis.alignment) : "";
  }

  const TranslateOptions& options_;
  int64_t number_ = 0, invalid_ = 0, cut_ = 0, repeats_ = 0, unknown_ = 0, terms_missed_ = 0;
};

// On a terminal that nothing else is written to: results go to a file, and input is not typed.
bool may_show_progress(const std::vector<std::string>& files) {
  struct stat output = {};
  const bool to_file = fstat(STDOUT_FILENO, &output) == 0 && S_ISREG(output.st_mode);
  return to_file && isatty(STDERR_FILENO) == 1 && (!files.empty() || isatty(STDIN_FILENO) == 0);
}

}  // namespace

void translate(const Arguments& arguments) {
  TranslateOptions o;
  std::vector<std::string> files;
  Options options, search;
  declare(options, o);
  declare_search(search, o.translating.search);
  CommandLine line("translate", summary_of("translate"));
  line.add_arguments("FILE", files, "text, plain or .gz or .zst; by default standard input",
                     /*required=*/false);
  line.add_options(options);
  add_search(line, search);
  if (!line.read(arguments)) return;
  if (o.translating.models.empty())
    throw UsageError("translate needs --model DIR: see dragoman translate --help");
  if (o.attention && o.format == OutputFormat::text)
    throw UsageError("--attention needs --format json: a line of text cannot hold a matrix");
  if (o.pieces && o.format == OutputFormat::json)
    throw UsageError("--pieces has no effect with --format json, which always has the subwords as tokens");
  o.translating.tokens = o.format == OutputFormat::json || o.pieces;
  o.translating.search.alignment = o.alignment || o.attention;
  search.check([&] { validate(o.translating.search); });
  if (o.translating.search.prefix_bias != 1 && o.prefix.empty())
    throw UsageError("--prefix-bias has no effect without --prefix FILE");
  if (o.translating.glossary == "-")
    throw UsageError("--glossary must name a file: standard input is for the text");
  if (o.prefix == "-" && (files.empty() || std::ranges::count(files, "-") > 0))
    throw UsageError("--prefix must name a file: standard input is for the text");
  check_document(o, !files.empty());
  if (!o.document.document.empty())
    return translate_document(o.document, o.translating, given_options(search));
  watch_signals();

  TranslationInput input(files, o.prefix);
  TranslationPrinter printer(o);
  dragoman::Options request = given_options(search);
  request.emplace_back("alignment", o.translating.search.alignment);
  request.emplace_back("prefix-bias", o.translating.search.prefix_bias);
  std::optional<StatusLine> status;
  if (may_show_progress(files)) status.emplace();
  int64_t lines = 0;
  translate_lines(o.translating, request, input, [&](const dragoman::Translation& done) {
    printer.print(done);
    if (status) status->show("translating", -1, static_cast<double>(++lines), "lines");
  });
  status.reset();
  printer.finish();
}

}  // namespace dragoman::internal
