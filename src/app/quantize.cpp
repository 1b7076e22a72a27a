// dragoman quantize: a model with weights of lower precision, in a folder of its own.
#include <filesystem>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/log.h"
#include "dragoman/models.h"
#include "model/folder.h"

namespace dragoman::internal {
namespace {

struct QuantizeOptions {
  std::string model, out;
  dragoman::Precision precision = dragoman::Precision::int8;
};

void declare(Options& options, QuantizeOptions& o) {
  auto own = options.section("", "Options");
  declare_model(own, o.model);
  own.add("precision", o.precision, "precision of the new weights",
          {{"int8", dragoman::Precision::int8}, {"bf16", dragoman::Precision::bf16}});
  declare_new_model(own, o.out);
}

double megabytes_of_weights(const std::string& folder) {
  return static_cast<double>(std::filesystem::file_size(weights_path(folder))) * 1e-6;
}

}  // namespace

void quantize(const Arguments& arguments) {
  QuantizeOptions o;
  if (!read_options(command_named("quantize"), o, arguments)) return;
  if (o.model.empty() || o.out.empty())
    throw UsageError("quantize needs --model DIR and --out DIR: see dragoman quantize --help");
  dragoman::quantize(o.model, o.precision, o.out);
  log_info("{} has the weights of {} in {:.1f} MB instead of {:.1f}", o.out, o.model,
           megabytes_of_weights(o.out), megabytes_of_weights(o.model));
}

}  // namespace dragoman::internal
