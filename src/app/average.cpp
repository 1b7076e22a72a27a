// dragoman average: the mean of several models' weights, as a model.
#include <algorithm>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/model_folders.h"
#include "app/shared_options.h"
#include "base/log.h"
#include "model/folder.h"
#include "model/transformer.h"
#include "model/weights.h"
#include "text/vocabulary.h"
#include "train/averaging.h"
#include "train/checkpoints.h"

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

std::vector<std::string> files_to_average(const AverageOptions& o) {
  std::vector<std::string> files;
  if (o.last == 0) {
    for (const std::string& folder : o.folders) files.push_back(weights_path(folder));
    return files;
  }
  if (o.folders.size() != 1)
    throw UsageError("average: --last takes the checkpoints of one model, not of {}", o.folders.size());
  const Checkpoints checkpoints(o.folders[0] + "/checkpoints", 1);
  for (const auto& [path, defect] : checkpoints.verify()) {
    if (!defect.empty()) throw Error("{} is damaged: {}; remove it to average the others", path, defect);
  }
  auto found = checkpoints.list();
  std::erase_if(found, [](const auto& checkpoint) { return checkpoint.reason == CheckpointReason::extra; });
  const auto wanted = static_cast<size_t>(o.last);
  if (found.size() < wanted) {
    throw Error(
        "{} has {} regular checkpoints, not {}: average fewer, or train with a larger checkpoints.keep",
        o.folders[0], found.size(), wanted);
  }
  for (size_t i = found.size() - wanted; i < found.size(); ++i) files.push_back(weights_path(found[i].path));
  return files;
}

void check_same_vocabularies(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    if (have_same_vocabularies(folders[0], folder)) continue;
    throw Error("{} and {} have different vocabularies and cannot be averaged", folders[0], folder);
  }
}

}  // namespace

void average(const Arguments& arguments) {
  AverageOptions o;
  Options options;
  declare(options, o);
  CommandLine line("average", summary_of("average"));
  line.add_arguments("DIR", o.folders, "model folders of one shape, or one with --last");
  line.add_options(options);
  if (!line.read(arguments)) return;
  if (o.out.empty()) throw UsageError("average needs --out DIR: see dragoman average --help");
  check_new_model_folder(o.out);

  Device device(chosen_kernels(), 1);
  Transformer model(read_model_config(o.folders[0]), device, Buffers::weights);
  const std::vector<std::string> files = files_to_average(o);
  check_same_vocabularies(o.folders);
  average_weights(model.parameters, files);
  copy_all_but_weights(o.folders[0], o.out);
  const HostView<const float> weights(device.memory, model.parameters.weights());
  write_weights(weights_path(o.out), model.parameters, weights.span());
  log_info("{} is the average of {} {}", o.out, files.size(), o.last > 0 ? "checkpoints" : "models");
}

}  // namespace dragoman::internal
