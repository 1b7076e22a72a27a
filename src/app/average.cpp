// dragoman average: the mean of several models' weights, as a model.
#include <algorithm>
#include <filesystem>

#include "app/command_line.h"
#include "app/commands.h"
#include "base/files.h"
#include "base/log.h"
#include "model/folder.h"
#include "model/weights.h"
#include "train/checkpoints.h"
#include "train/run.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

struct AverageOptions {
  std::vector<std::string> models;
  int64_t last = 0;
  std::string out;
};

void declare(Options& options, AverageOptions& o) {
  auto own = options.section("", "Which models, and where to");
  own.add("models", o.models, "folders of models of one shape, separated by commas");
  own.add("last", o.last, "the newest checkpoints of the one model, instead of several models", at_least(0));
  own.add("out", o.out, "the folder of the average");
}

std::vector<std::string> files_to_average(const AverageOptions& o) {
  std::vector<std::string> files;
  if (o.last == 0) {
    for (const std::string& folder : o.models) files.push_back(weights_path(folder));
    return files;
  }
  if (o.models.size() != 1)
    throw UsageError("average --last takes the checkpoints of one model, not of {}", o.models.size());
  const auto found = Checkpoints(o.models[0] + "/checkpoints", 1).list();
  if (found.empty()) throw Error("{} has no checkpoints", o.models[0]);
  const size_t count = std::min(found.size(), static_cast<size_t>(o.last));
  for (size_t i = found.size() - count; i < found.size(); ++i) files.push_back(weights_path(found[i].path));
  return files;
}

void copy_if_there(const std::string& from, const std::string& to, const char* name) {
  const fs::path file = fs::path(from) / name;
  if (fs::exists(file)) write_file((fs::path(to) / name).string(), {read_file(file.string())});
}

}  // namespace

void average(const Arguments& arguments) {
  AverageOptions o;
  Options options;
  declare(options, o);
  CommandLine line("average", "average the weights of several models, or of a run's last checkpoints");
  line.add_options(options);
  if (!line.parse(arguments)) return;
  line.set_flags();
  if (o.models.empty() || o.out.empty())
    throw UsageError("average needs --models and --out: see dragoman average --help");
  if (fs::exists(weights_path(o.out)))
    throw UsageError("{} holds a model already: take another folder for --out", o.out);

  Device device(kernels_for(nullptr), 1);
  Transformer model(read_model_config(o.models[0]), device, false);
  const std::vector<std::string> files = files_to_average(o);
  average_weights(model, files);
  fs::create_directories(o.out);
  for (const char* name : {"config.json", "source.spm", "target.spm", "shared.spm"})
    copy_if_there(o.models[0], o.out, name);
  write_weights(weights_path(o.out), model.parameters, model.parameters.weights());
  log_info("{} is the average of {} models", o.out, files.size());
}

}  // namespace dragoman
