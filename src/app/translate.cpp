// dragoman translate: one line of output per line of input, as soon as it is ready.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include <fmt/format.h>

#include "api/options.h"
#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/reference_choice.h"
#include "app/review_printer.h"
#include "app/shared_options.h"
#include "app/translate_document.h"
#include "app/translating.h"
#include "app/translation_printer.h"
#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/status_line.h"

namespace dragoman::internal {
namespace {

struct TranslateOptions {
  TranslatingOptions translating;
  std::string text, prefix, choose_by;
  OutputFormat format = OutputFormat::text;
  bool pieces = false;
  bool alignment = false;
  bool attention = false;
  bool confidence = false;
  double review = 0;
  DocumentOptions document;
};

void declare(Options& options, TranslateOptions& o) {
  auto own = options.section("", "Options");
  declare_models_and_batch(own, o.translating);
  declare_fusion(own, o.translating);
  own.add("text", o.text, "text to translate, instead of a file's");
  own.add("prefix", o.prefix,
          "file with the beginning of each translation, one per line; empty input lines stay empty")
      .shows("FILE");
  declare_prefix_bias(own, o.translating.search);
  own.add("glossary", o.translating.glossary,
          "glossary whose translations the output must use: tab-separated or TBX")
      .shows("FILE");
  own.add("memory", o.translating.memory,
          "translation memory: lines that it has are translated as there, others with similar ones in view")
      .shows("DIR");
  own.add(
         "choose-by", o.choose_by,
         "reference translations, line by line: print the one of --nbest hypotheses that is nearest, by chrF")
      .shows("FILE");
  declare_format(own, o.format, "lines of text, or JSON objects with scores, flags and alternatives");
  own.add("pieces", o.pieces, "print the output as subwords instead of text");
  own.add("alignment", o.alignment,
          "print the word alignment: after |||, as pairs SOURCE-TARGET; in JSON with positions in the text");
  own.add("attention", o.attention, "in JSON: how much each output subword attended to each source subword");
  own.add("confidence", o.confidence,
          "in JSON: how likely all and each word are right (see dragoman calibrate), and what is missing or "
          "too much");
  own.add("review", o.review,
          "print only the lines that a person should look at: with a confidence below this, or something "
          "missing or "
          "too much",
          at_least(0).at_most(1));
  declare(own, o.document);
}

void check_format(const TranslateOptions& o) {
  if (o.attention && o.format == OutputFormat::text)
    throw UsageError("--attention needs --format json: a line of text cannot hold a matrix");
  if (o.confidence && o.format == OutputFormat::text)
    throw UsageError("--confidence needs --format json: a line of text has no place for it");
  if (o.review > 0 && (o.pieces || o.alignment || o.attention || o.translating.search.nbest > 1))
    throw UsageError("--pieces, --alignment, --attention and --nbest have no effect with --review");
  if (o.pieces && o.format == OutputFormat::json)
    throw UsageError("--pieces has no effect with --format json, which always has the subwords as tokens");
}

void check_fusion(const TranslateOptions& o, const Options& given) {
  if (o.translating.language_model.empty() && given.is_given("language-model-weight"))
    throw UsageError("--language-model-weight has no effect without --language-model DIR");
}

void check_files(const TranslateOptions& o, const std::vector<std::string>& files) {
  if (o.translating.search.prefix_bias != 1 && o.prefix.empty())
    throw UsageError("--prefix-bias has no effect without --prefix FILE");
  if (o.translating.glossary == "-")
    throw UsageError("--glossary must name a file: standard input is for the text");
  if (o.prefix == "-" && (files.empty() || std::ranges::count(files, "-") > 0))
    throw UsageError("--prefix must name a file: standard input is for the text");
}

// What is for lines of text, and has no meaning for a document.
void check_document(const TranslateOptions& o, const Options& given) {
  if (o.document.document.empty()) {
    if (!o.document.out.empty() || !o.document.format.empty() || !o.document.columns.empty() ||
        o.document.mark_unconfirmed)
      throw UsageError(
          "--out, --document-format, --columns and --mark-unconfirmed have no effect without --document "
          "FILE");
    return;
  }
  if (given.is_given("text")) throw UsageError("--text has no effect with --document");
  if (!o.choose_by.empty()) throw UsageError("--choose-by has no effect with --document");
  if (o.review > 0) throw UsageError("--review has no effect with --document");
  if (!o.prefix.empty() || o.pieces || o.alignment || o.attention || o.format != OutputFormat::text ||
      o.translating.search.nbest > 1)
    throw UsageError(
        "--prefix, --pieces, --alignment, --attention, --format and --nbest have no effect with --document");
}

void check_choice(const TranslateOptions& o, const std::vector<std::string>& files) {
  if (o.choose_by.empty()) return;
  if (o.translating.search.nbest < 2)
    throw UsageError("--choose-by needs several hypotheses to choose from: add --nbest 8");
  if (o.choose_by == "-" && (files.empty() || std::ranges::count(files, "-") > 0 || o.prefix == "-"))
    throw UsageError("--choose-by must name a file: standard input is for the text");
}

// On a terminal that nothing else is written to: results go to a file, and input is not typed.
bool may_show_progress(const std::vector<std::string>& files) {
  struct stat output = {};
  const bool to_file = fstat(STDOUT_FILENO, &output) == 0 && S_ISREG(output.st_mode);
  return to_file && isatty(STDERR_FILENO) == 1 && (!files.empty() || isatty(STDIN_FILENO) == 0);
}

void review(const TranslateOptions& o, const dragoman::Options& request, TranslationInput& input) {
  ReviewPrinter printer(o.review, o.format, languages_of(o.translating));
  translate_lines(o.translating, request, input,
                  [&](const dragoman::Translation& done) { printer.print(done); });
  printer.finish();
}

void print_all(const TranslateOptions& o, dragoman::Options request, TranslationInput& input,
               bool show_progress) {
  TranslationPrinter printer({.format = o.format,
                              .alternatives = o.translating.search.nbest > 1 && o.choose_by.empty(),
                              .pieces = o.pieces,
                              .alignment = o.alignment,
                              .attention = o.attention,
                              .memory = !o.translating.memory.empty(),
                              .confidence = o.confidence,
                              .languages = languages_of(o.translating)});
  request.emplace_back("alignment", o.translating.search.alignment);
  std::optional<StatusLine> status;
  if (show_progress) status.emplace();
  std::optional<ReferenceChoice> choice;
  if (!o.choose_by.empty()) choice.emplace(o.choose_by);
  int64_t count = 0;
  translate_lines(o.translating, request, input, [&](const dragoman::Translation& done) {
    printer.print(choice ? choice->choose(done) : done);
    if (status) status->show("translating", -1, static_cast<double>(++count), "lines");
  });
  status.reset();
  if (choice) choice->finish();
  printer.finish();
}

}  // namespace

void translate(const Arguments& arguments) {
  TranslateOptions o;
  std::vector<std::string> files;
  Options options, search;
  declare(options, o);
  declare_search(search, o.translating.search);
  CommandLine line("translate", summary_of("translate"));
  line.add_arguments(
      "FILE", files,
      "text, plain or .gz or .zst, or the text itself; by default standard input; with --document "
      "further documents",
      /*required=*/false);
  line.add_options(options);
  add_search(line, search);
  if (!line.read(arguments)) return;
  if (o.translating.models.empty())
    throw UsageError("translate needs --model DIR: see dragoman translate --help");
  o.translating.tokens = o.format == OutputFormat::json || o.pieces || o.review > 0;
  o.translating.search.alignment = o.alignment || o.attention;
  checked_search(o.translating.models[0], search, o.translating.search.alignment);
  check_format(o);
  check_fusion(o, options);
  check_files(o, files);
  check_choice(o, files);
  check_document(o, options);
  if (!o.document.document.empty()) {
    files.insert(files.begin(), o.document.document);
    return translate_documents(files, o.document, o.translating, given_options(search));
  }
  const auto text = options.is_given("text") ? std::optional(o.text) : std::nullopt;
  const std::vector<std::string> lines_given = given_lines(text, files);
  lines_given.empty() ? check_are_lines(files) : files.clear();
  if (files.empty() && lines_given.empty() && isatty(STDIN_FILENO) == 1)
    std::cerr << "Type a line to translate and press Enter; Ctrl-D ends.\n";
  watch_signals();

  TranslationInput input(files, o.prefix, lines_given);
  dragoman::Options request = given_options(search);
  request.emplace_back("prefix-bias", o.translating.search.prefix_bias);
  o.review > 0 ? review(o, request, input) : print_all(o, request, input, may_show_progress(files));
}

}  // namespace dragoman::internal
