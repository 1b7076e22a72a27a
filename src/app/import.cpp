// dragoman import: another system's model as a model folder.
#include <algorithm>
#include <iostream>
#include <tuple>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/model_folders.h"
#include "app/shared_options.h"
#include "base/log.h"
#include "convert/importers.h"
#include "dragoman/translator.h"
#include "text/language_tokens.h"

namespace dragoman::internal {
namespace {

struct ImportOptions {
  ImportRequest request;
  std::string out, format, source_vocabulary, target_vocabulary, from, to;
  std::string check = "This is a test.";
  WantedPrecision precision = WantedPrecision::as_saved;
};

void declare(Options& options, ImportOptions& o) {
  auto own = options.section("", "Options");
  declare_new_model(own, o.out);
  own.add("format", o.format, "what SOURCE is, instead of finding out; see docs/models.md for the names");
  own.add("vocab", o.source_vocabulary,
          "vocabulary of SOURCE that lies elsewhere: a .spm file or a word list");
  own.add("target-vocab", o.target_vocabulary, "the target side's, if it is another");
  declare_languages(own, o.from, o.to);  // the folder's defaults
  own.add("precision", o.precision,
          "of the new weights: int8 where SOURCE has integers, or fp32 everywhere, which can be trained",
          {{"as-saved", WantedPrecision::as_saved}, {"fp32", WantedPrecision::fp32}});
  own.add("check", o.check, "sentence that the new model translates at the end, to be looked at; \"\": none");
}

// The languages become the folder's defaults.
void set_languages(const ImportOptions& o, ImportedModel& model) {
  for (const auto& [key, language, vocabulary] :
       {std::tuple("from", o.from, model.vocabularies.source), {"to", o.to, model.vocabularies.target}}) {
    if (language.empty()) continue;
    language_token(*vocabulary, language, key);
    model.search[key] = language;
  }
}

bool needs_languages(const ImportedModel& model) {
  const auto needs = [&](const Vocabulary& vocabulary, const char* key) {
    return !vocabulary.languages().tokens.empty() && !model.search.contains(key);
  };
  return needs(*model.vocabularies.source, "from") || needs(*model.vocabularies.target, "to");
}

// The end of the way: what a user would do first.
void translate_one(const ImportOptions& o, const ImportedModel& model) {
  if (o.check.empty()) return;
  if (needs_languages(model))
    return log_info("translate it with --from LANG and --to LANG: dragoman info lists them");
  dragoman::Translator translator(o.out);
  const dragoman::Translation translation = translator.translate(o.check);
  const dragoman::Hypothesis& best = translation.hypotheses.front();
  double sum = 0;
  for (const Token& token : best.tokens) sum += static_cast<double>(token.log_probability);
  std::cout << fmt::format(
      "source       {}\ntranslation  {}\nscore        {:.3f} per token, {} tokens\n", o.check, best.text,
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
  if (o.out.empty()) throw UsageError("import needs --out DIR: see dragoman import --help");
  check_new_model_folder(o.out);

  for (const std::string& file : {o.source_vocabulary, o.target_vocabulary})
    if (!file.empty()) o.request.vocabularies.push_back(file);
  ImportedModel model = import_model(o.request, o.format);
  set_languages(o, model);
  if (o.precision == WantedPrecision::fp32) model.precision = Precision::fp32;
  write_model_folder(model, o.out);
  log_info("{} is the {} model in {}", o.out, model.system, o.request.source);
  for (const std::string& choice : model.choices) log_info("{}", choice);
  if (model.precision == Precision::int8)
    log_info("weights in int8, as they are there; --precision fp32 makes a model that can be trained");
  translate_one(o, model);
}

}  // namespace dragoman::internal
