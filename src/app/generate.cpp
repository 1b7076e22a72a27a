// dragoman generate: a language model's continuation of each line.
#include <unistd.h>

#include <iostream>
#include <optional>

#include "api/options.h"
#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "app/translation_printer.h"
#include "base/error.h"
#include "base/signals.h"

namespace dragoman::internal {
namespace {

struct GenerateOptions {
  TranslatingOptions translating;
  std::string text;
  OutputFormat format = OutputFormat::text;
};

void declare(Options& options, GenerateOptions& o) {
  auto own = options.section("", "Options");
  declare_models_and_batch(own, o.translating);
  own.add("text", o.text, "text to continue, instead of a file's");
  declare_format(own, o.format, "lines of text, or JSON objects with scores, flags and alternatives");
}

}  // namespace

void generate(const Arguments& arguments) {
  GenerateOptions o;
  o.translating.search = language_model_search();
  o.translating.continues = true;
  std::vector<std::string> files;
  Options options, search;
  declare(options, o);
  auto section = search.section("", "Output");
  declare_output(section, o.translating.search);
  CommandLine line("generate", summary_of("generate"));
  line.add_arguments(
      "FILE", files,
      "texts to continue, one per line, plain or .gz or .zst, or a text itself; by default standard "
      "input",
      /*required=*/false);
  line.add_options(options);
  line.add_options(search);
  if (!line.read(arguments)) return;
  if (o.translating.models.empty())
    throw UsageError("generate needs --model DIR: see dragoman generate --help");
  o.translating.tokens = o.format == OutputFormat::json;
  const dragoman::Options request = given_options(search);
  const SearchOptions output = search_options(request, language_model_search());
  const auto text = options.is_given("text") ? std::optional(o.text) : std::nullopt;
  const std::vector<std::string> lines_given = given_lines(text, files);
  if (!lines_given.empty()) files.clear();
  if (files.empty() && lines_given.empty() && isatty(STDIN_FILENO) == 1)
    std::cerr << "Type the beginning of a text and press Enter; Ctrl-D ends.\n";
  watch_signals();

  TranslationInput input(files, "", lines_given);
  TranslationPrinter printer({.format = o.format, .alternatives = output.nbest > 1});
  translate_lines(o.translating, request, input,
                  [&](const dragoman::Translation& done) { printer.print(done); });
  printer.finish();
}

}  // namespace dragoman::internal
