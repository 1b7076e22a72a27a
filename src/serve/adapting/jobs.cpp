#include "serve/adapting/jobs.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/threads.h"
#include "model/folder.h"
#include "model/weights_file.h"
#include "serve/memories/store.h"
#include "serve/models/adapted.h"
#include "serve/operation/metrics.h"
#include "serve/settings.h"
#include "serve/translations.h"

namespace dragoman::internal {
namespace {

bool has_low_precision(const std::string& folder) {
  return WeightsFile(existing_weights(folder)).precision() != Precision::fp32;
}

AdaptJob job_of(const ServedModel& model, const Translations& translations, const MemoryStore& memories,
                const ServeSettings& settings) {
  if (model.translator->info().language_model)
    throw Error("it is a language model, which does not translate");
  if (model.sources.size() != 1 || model.targets.size() != 1)
    throw Error("it translates between many languages, and would forget those that no segment is in");
  if (has_low_precision(model.folder))
    throw Error(
        "its weights are of low precision, which cannot be trained: serve the model that it was made from, "
        "with --precision");
  const std::string &from = model.sources.front(), &to = model.targets.front();
  const DirectTranslator direct = translations.direct(from, to);
  AdaptJob job = {.label = {},
                  .base = model.folder,
                  .out = adapted_folder(model.folder, settings.adapted),
                  .from = direct.from.empty() ? from : direct.from,
                  .to = direct.to.empty() ? to : direct.to,
                  .memories = {},
                  .suggestions = settings.suggestions};
  for (const auto& one : of_pair(memories.all(), from, to)) job.memories.push_back(one->memory->folder());
  if (job.memories.empty() && job.suggestions.empty())
    throw Error("no memory has segments from {} to {}", from, to);
  check_writable_folder(job.out + ".dragoman-work");
  return job;
}

}  // namespace

std::vector<AdaptJob> adapt_jobs(const Translations& translations, const MemoryStore& memories,
                                 const ServeSettings& settings) {
  std::vector<AdaptJob> jobs;
  std::set<std::string> folders;
  const std::vector<ServedModel> models = translations.models();
  const std::vector<std::string> labels = labels_of(models);
  for (size_t i = 0; i < models.size(); ++i) {
    try {
      AdaptJob job = job_of(models[i], translations, memories, settings);
      job.label = labels[i];
      if (!folders.insert(job.out).second)
        throw Error("{} is for another model of this name: rename one of them", job.out);
      jobs.push_back(std::move(job));
    } catch (const std::exception& error) {
      log_warning("{} is not adapted: {}", models[i].folder, error.what());
    }
  }
  return jobs;
}

// Half of the threads, so that the server has what it needs even where the system shares processors evenly.
std::vector<std::string> adapt_command(const std::string& program, const AdaptJob& job,
                                       const ServeSettings& settings) {
  const int64_t threads = settings.threads > 0 ? settings.threads : available_threads();
  std::vector<std::string> words = {program,
                                    "adapt",
                                    "--model=" + job.base,
                                    "--out=" + job.out,
                                    "--from=" + job.from,
                                    "--to=" + job.to,
                                    "--device=cpu",
                                    fmt::format("--threads={}", std::max<int64_t>(1, threads / 2)),
                                    fmt::format("--max-minutes={}", settings.adapt_minutes),
                                    "--format=json"};
  for (const std::string& memory : job.memories) words.push_back("--memory=" + memory);
  if (!job.suggestions.empty()) words.insert(words.end(), {"--", job.suggestions});
  return words;
}

FolderState inputs_of(const AdaptJob& job) {
  std::vector<std::string> folders = {job.base};
  std::ranges::copy(job.memories, std::back_inserter(folders));
  FolderState all = state_of_all(folders);
  if (!job.suggestions.empty()) all.push_back(state_of_file(job.suggestions));
  return all;
}

}  // namespace dragoman::internal
