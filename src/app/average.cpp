// dragoman average: the mean of several models' weights, as a model.
#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/log.h"
#include "base/quotes.h"
#include "dragoman/models.h"

namespace dragoman::internal {
namespace {

struct AverageOptions {
  std::vector<std::string> folders;
  int64_t last = 0;
  std::string out;
};

void declare(Options& options, AverageOptions& o) {
  auto own = options.section("", "Options");
  own.add("last", o.last, "average the newest N regular checkpoints of one model; 0: average the models",
          at_least(0));
  declare_new_model(own, o.out);
}

}  // namespace

void average(const Arguments& arguments) {
  AverageOptions o;
  Options options;
  declare(options, o);
  CommandLine line("average", summary_of("average"));
  line.add_arguments("DIR", o.folders, "models of the same shape, or one model with --last");
  line.add_options(options);
  if (!line.read(arguments)) return;
  if (o.out.empty()) throw UsageError("average needs --out DIR: see dragoman average --help");
  if (o.last == 0) {
    dragoman::average(o.folders, o.out);
    return log_info("{} is the average of {}", o.out, counted(std::ssize(o.folders), "model"));
  }
  if (o.folders.size() != 1)
    throw UsageError("average: --last needs a single model, but {} were given", o.folders.size());
  dragoman::average_checkpoints(o.folders[0], static_cast<size_t>(o.last), o.out);
  log_info("{} is the average of {}", o.out, counted(o.last, "checkpoint"));
}

}  // namespace dragoman::internal
