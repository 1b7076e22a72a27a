// dragoman import: another system's model as a model folder.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/log.h"
#include "base/signals.h"
#include "dragoman/models.h"
#include "text/check_sentence.h"

namespace dragoman::internal {
namespace {

struct ImportOptions {
  dragoman::ImportRequest request;
  std::string source_vocabulary, target_vocabulary;
  std::string check = "auto";
};

void declare(Options& options, ImportOptions& o) {
  auto own = options.section("", "Options");
  declare_new_model(own, o.request.out);
  own.add("format", o.request.format,
          "format of SOURCE; detected by default (docs/models.md lists the formats)");
  own.add("vocab", o.source_vocabulary, "vocabulary file outside SOURCE: a .spm file or a list of tokens")
      .shows("FILE");
  own.add("target-vocab", o.target_vocabulary, "vocabulary file of the target side, if it differs")
      .shows("FILE");
  declare_languages(own, o.request.from, o.request.to);  // the folder's defaults
  declare_imported_precision(own, o.request.precision);
  own.add("check", o.check,
          "sentence to translate with the new model as a check; auto: one in the source language, or in "
          "English; \"\": none");
}

// Translates a sentence with the new model, which is what a user would do first.
void translate_one(const ImportOptions& o, const dragoman::ImportResult& result) {
  if (o.check.empty()) return;
  if (result.needs_languages)
    return log_info("translate it with --from LANG and --to LANG: dragoman info lists them");
  const std::string sentence = o.check == "auto" ? check_sentence(result.source_language) : o.check;
  dragoman::Translator translator(o.request.out);
  const dragoman::Translation translation = translator.translate(sentence);
  const dragoman::Hypothesis& best = translation.hypotheses.front();
  double sum = 0;
  for (const Token& token : best.tokens) sum += static_cast<double>(token.log_probability);
  std::cout << fmt::format(
      "source       {}\ntranslation  {}\nscore        {:.3f} per token, {} tokens\n", sentence, best.text,
      sum / static_cast<double>(std::max<size_t>(1, best.tokens.size())), best.tokens.size());
}

}  // namespace

void import(const Arguments& arguments) {
  ImportOptions o;
  Options options;
  declare(options, o);
  CommandLine line("import", summary_of("import"));
  line.add_argument("SOURCE", o.request.source, "model of another system: a folder, or a file");
  line.add_options(options);
  if (!line.read(arguments)) return;
  const std::string& out = o.request.out;
  if (out.empty()) throw UsageError("import needs --out DIR: see dragoman import --help");
  if (o.source_vocabulary.empty() && !o.target_vocabulary.empty())
    throw UsageError("--target-vocab needs --vocab, the source side's");
  for (const std::string& file : {o.source_vocabulary, o.target_vocabulary})
    if (!file.empty()) o.request.vocabularies.push_back(file);
  watch_signals();
  const dragoman::ImportResult result = dragoman::import_model(o.request);
  if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped after " + out + " was made");
  log_info("{} is the {} model in {}", out, result.system, o.request.source);
  for (const std::string& choice : result.choices) log_info("{}", choice);
  if (result.integers)
    log_info("the weights stay in int8; --precision fp32 makes a model that can be trained");
  translate_one(o, result);
}

}  // namespace dragoman::internal
