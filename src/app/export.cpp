// dragoman export: a model folder as another system's model.
#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/log.h"
#include "dragoman/models.h"

namespace dragoman::internal {
namespace {

struct ExportOptions {
  std::string model, out, calibrate;
  ExportFormat format = ExportFormat::ctranslate2;
};

void declare(Options& options, ExportOptions& o) {
  auto own = options.section("", "Options");
  declare_model(own, o.model);
  own.add(
      "format", o.format,
      "system whose files to write: CTranslate2; Hugging Face's Marian; Marian; or Bergamot, which Firefox "
      "has, in 8 bits",
      {{"ctranslate2", ExportFormat::ctranslate2},
       {"huggingface", ExportFormat::huggingface},
       {"marian", ExportFormat::marian},
       {"bergamot", ExportFormat::bergamot}});
  own.add("calibrate", o.calibrate,
          "for bergamot: a file of source lines, of which the first 500 fix the multipliers of activations; "
          "without it Bergamot measures them as it translates")
      .shows("FILE");
  declare_new_model(own, o.out);
}

const char* name_of(ExportFormat format) {
  switch (format) {
    case ExportFormat::ctranslate2:
      return "CTranslate2";
    case ExportFormat::huggingface:
      return "Hugging Face's transformers";
    case ExportFormat::marian:
      return "Marian";
    case ExportFormat::bergamot:
      break;
  }
  return "Bergamot";
}

}  // namespace

void export_model(const Arguments& arguments) {
  ExportOptions o;
  if (!read_options(command_named("export"), o, arguments)) return;
  if (o.model.empty() || o.out.empty())
    throw UsageError("export needs --model DIR and --out DIR: see dragoman export --help");
  const std::vector<std::string> notes = dragoman::export_model(o.model, o.format, o.out, o.calibrate);
  log_info("{} is {} for {}", o.out, o.model, name_of(o.format));
  for (const std::string& note : notes) log_info("{}", note);
}

}  // namespace dragoman::internal
