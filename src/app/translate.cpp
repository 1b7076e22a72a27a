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
#include "base/quotes.h"
#include "base/signals.h"
#include "base/status_line.h"
#include "serve/translation_json.h"

namespace dragoman::internal {
namespace {

struct TranslateOptions {
  TranslatingOptions translating;
  std::string text, prefix;
  OutputFormat format = OutputFormat::text;
  bool pieces = false;
  bool alignment = false;
  bool attention = false;
  DocumentOptions document;
};

void declare(Options& options, TranslateOptions& o) {
  auto own = options.section("", "Options");
  declare_models_and_batch(own, o.translating);
  own.add("text", o.text, "text to translate, instead of a file's");
  own.add("prefix", o.prefix,
          "file with the beginning of each translation, one per line; empty input lines stay empty")
      .shows("FILE");
  declare_prefix_bias(own, o.translating.search);
  own.add("glossary", o.translating.glossary,
          "glossary whose translations the output must use: tab-separated or TBX")
      .shows("FILE");
  declare_format(own, o.format, "lines of text, or JSON objects with scores, flags and alternatives");
  own.add("pieces", o.pieces, "print the output as subwords instead of text");
  own.add("alignment", o.alignment,
          "print the word alignment: after |||, as pairs SOURCE-TARGET; in JSON with positions in the text");
  own.add("attention", o.attention, "in JSON: how much each output subword attended to each source subword");
  declare(own, o.document);
}

// What is for lines of text, and has no meaning for a document.
void check_document(const TranslateOptions& o) {
  if (o.document.document.empty()) {
    if (!o.document.out.empty() || !o.document.format.empty() || !o.document.columns.empty())
      throw UsageError("--out, --document-format and --columns have no effect without --document FILE");
    return;
  }
  if (!o.text.empty()) throw UsageError("--text has no effect with --document");
  if (!o.prefix.empty() || o.pieces || o.alignment || o.attention || o.format != OutputFormat::text ||
      o.translating.search.nbest > 1)
    throw UsageError(
        "--prefix, --pieces, --alignment, --attention, --format and --nbest have no effect with --document");
}

// Of --text, or of arguments that are text.
std::vector<std::string> given_lines(const std::string& text, const std::vector<std::string>& files) {
  if (!text.empty() && !files.empty())
    throw UsageError("--text cannot be combined with input files, such as {}", shortened(files[0]));
  const auto texts = std::ranges::count_if(files, is_text_argument);
  if (texts > 0 && texts < std::ssize(files))
    throw UsageError("some of the arguments are files and others are text, such as {}: give one or the other",
                     in_quotes(*std::ranges::find_if(files, is_text_argument)));
  std::vector<std::string> lines;
  for (const std::string& one : texts > 0 ? files : std::vector{text}) {
    for (size_t begin = 0; begin < one.size();) {
      const size_t end = std::min(one.find('\n', begin), one.size());
      lines.push_back(one.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return lines;
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
    too_short_ += line.too_short;
    unknown_ += line.unknown;
    terms_missed_ += line.terms_missed;
    flush_output();
  }

  void finish() const {
    warn(invalid_, "were not valid UTF-8; invalid bytes were replaced by U+FFFD");
    if (options_.format == OutputFormat::json) return;  // which flags them
    warn(cut_, "were cut; --format json flags them");
    warn(repeats_, "looped and were translated again; --format json flags them");
    warn(too_short_,
         "came out far shorter than their source, of which parts may be missing; --format json flags them");
    warn(unknown_, "have characters that are not in the vocabulary; --format json flags them");
    warn(terms_missed_, "are missing a glossary term; --format json flags them");
  }

 private:
  void warn(int64_t count, std::string_view what) const {
    if (count > 0) log_warning("{} of {} lines {}", count, number_, what);
  }

  std::string alignment_of(const dragoman::Hypothesis& hypothesis) const {
    return options_.alignment ? " ||| " + pharaoh_format(hypothesis.alignment) : "";
  }

  const TranslateOptions& options_;
  int64_t number_ = 0, invalid_ = 0, cut_ = 0, repeats_ = 0, too_short_ = 0, unknown_ = 0, terms_missed_ = 0;
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
  check_document(o);
  if (!o.document.document.empty()) {
    files.insert(files.begin(), o.document.document);
    return translate_documents(files, o.document, o.translating, given_options(search));
  }
  const std::vector<std::string> lines_given = given_lines(o.text, files);
  if (!lines_given.empty()) files.clear();
  if (files.empty() && lines_given.empty() && isatty(STDIN_FILENO) == 1)
    std::cerr << "Type a line to translate and press Enter; Ctrl-D ends.\n";
  watch_signals();

  TranslationInput input(files, o.prefix, lines_given);
  TranslationPrinter printer(o);
  dragoman::Options request = given_options(search);
  request.emplace_back("alignment", o.translating.search.alignment);
  request.emplace_back("prefix-bias", o.translating.search.prefix_bias);
  std::optional<StatusLine> status;
  if (may_show_progress(files)) status.emplace();
  int64_t count = 0;
  translate_lines(o.translating, request, input, [&](const dragoman::Translation& done) {
    printer.print(done);
    if (status) status->show("translating", -1, static_cast<double>(++count), "lines");
  });
  status.reset();
  printer.finish();
}

}  // namespace dragoman::internal
