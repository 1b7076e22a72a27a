// dragoman export: a model folder as another system's model.
#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/log.h"
#include "dragoman/models.h"

namespace dragoman::internal {
namespace {

struct ExportOptions {
  std::string model, out;
  ExportFormat format = ExportFormat::ctranslate2;
};

void declare(Options& options, ExportOptions& o) {
  auto own = options.section("", "Options");
  declare_model(own, o.model);
  own.add("format", o.format, "system whose files to write: CTranslate2, or Hugging Face's Marian",
          {{"ctranslate2", ExportFormat::ctranslate2}, {"huggingface", ExportFormat::huggingface}});
  declare_new_model(own, o.out);
}

}  // namespace

void export_model(const Arguments& arguments) {
  ExportOptions o;
  if (!read_options(command_named("export"), o, arguments)) return;
  if (o.model.empty() || o.out.empty())
    throw UsageError("export needs --model DIR and --out DIR: see dragoman export --help");
  const std::vector<std::string> notes = dragoman::export_model(o.model, o.format, o.out);
  log_info("{} is {} for {}", o.out, o.model,
           o.format == ExportFormat::ctranslate2 ? "CTranslate2" : "Hugging Face's transformers");
  for (const std::string& note : notes) log_info("{}", note);
}

}  // namespace dragoman::internal
