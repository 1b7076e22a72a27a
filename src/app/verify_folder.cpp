#include "app/verify_folder.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>

#include "app/shared_options.h"
#include "base/error.h"
#include "base/files.h"
#include "base/threads.h"
#include "data/prepare_corpus.h"
#include "model/folder.h"
#include "model/tensor_checksums.h"
#include "model/transformer.h"
#include "text/vocabulary.h"
#include "text/vocabulary_checksums.h"
#include "train/checkpoints.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

// A line for each file, and the number of those that are damaged.
class VerificationReport {
 public:
  // `verify` throws an Error that names the file, or returns what there is to remark.
  void add(const std::string& path, const std::function<std::string()>& verify) {
    ++files_;
    try {
      const std::string remark = verify();
      std::cout << fmt::format("{}: OK{}\n", path, remark.empty() ? "" : ", " + remark);
    } catch (const Error& error) {
      ++damaged_;
      std::cout << error.what() << "\n";
    }
  }

  void throw_if_any(const std::string& folder) const {
    if (damaged_ > 0) throw Error("{} of {} files in {} are damaged", damaged_, files_, folder);
  }

 private:
  int files_ = 0, damaged_ = 0;
};

std::string remark_on(const SafetensorsFile& file) {
  return has_checksums(file.metadata()) ? "" : "without checksums, as earlier versions wrote it";
}

std::optional<ModelConfig> verify_config(VerificationReport& findings, const std::string& folder) {
  std::optional<ModelConfig> config;
  findings.add(folder + "/config.json", [&] {
    config = read_model_config(folder);
    return "";
  });
  return config;
}

// Without a configuration nobody knows which tensors there should be.
void verify_weights(VerificationReport& findings, const std::string& folder,
                    const std::optional<ModelConfig>& config) {
  const std::string path = weights_path(folder);
  findings.add(path, [&] {
    const auto file = SafetensorsFile::open(path);
    if (config) {
      Device device(chosen_kernels(), available_threads());
      Transformer model(*config, device, Buffers::none_yet);
      map_weights(device, path, model.parameters);
    } else {
      file.verify(available_threads());
    }
    return remark_on(file);
  });
}

void verify_vocabularies(VerificationReport& findings, const std::string& folder) {
  const nlohmann::json config = config_of_vocabularies(folder);
  const nlohmann::json checksums = config.value("vocabulary_checksums", nlohmann::json::object());
  for (const char* name : {"shared.spm", "source.spm", "target.spm"}) {
    const std::string path = (fs::path(folder) / name).string();
    if (!fs::exists(path) && !checksums.contains(name)) continue;
    findings.add(path, [&] {
      read_vocabulary(folder, name);
      return "";
    });
  }
}

void verify_shortlist(VerificationReport& findings, const std::string& folder) {
  const std::string path = folder + "/shortlist.safetensors";
  if (!fs::exists(path)) return;
  findings.add(path, [&] {
    const auto file = SafetensorsFile::open(path);
    file.verify();
    return remark_on(file);
  });
}

void verify_shards(VerificationReport& findings, const std::string& folder) {
  const std::string prepared = prepared_folder(folder);
  if (!fs::exists(prepared)) return;
  findings.add(prepared, [&] {
    prepared_corpus(prepared, available_threads());
    return "";
  });
}

}  // namespace

void verify_folder(const std::string& folder) {
  if (!fs::exists(folder)) read_config(folder);  // says so
  VerificationReport findings;
  const bool has_run = fs::exists(folder + "/config.json") || fs::exists(weights_path(folder)) ||
                       fs::exists(folder + "/checkpoints");
  if (!has_run && fs::exists(prepared_folder(folder))) {
    verify_shards(findings, folder);
    std::cout << folder << ": prepared, but not trained yet\n";
    return findings.throw_if_any(folder);
  }
  const std::optional<ModelConfig> config = verify_config(findings, folder);
  const Checkpoints run(folder + "/checkpoints", 1);
  const std::vector<CheckpointDefect> checkpoints = run.verify();
  const bool has_had_model =
      std::ranges::any_of(run.list(), [](const CheckpointInfo& one) { return one.best_step >= 0; });
  // A run that was never validated has no model.
  if (checkpoints.empty() || has_had_model || fs::exists(weights_path(folder)))
    verify_weights(findings, folder, config);
  verify_vocabularies(findings, folder);
  verify_shortlist(findings, folder);
  verify_shards(findings, folder);
  for (const CheckpointDefect& one : checkpoints) {
    findings.add(one.path, [&]() -> std::string {
      if (!one.defect.empty()) throw Error("{} is damaged: {}", one.path, one.defect);
      return "";
    });
  }
  for (const std::string& path : run.incomplete())
    std::cout << path << ": incomplete and not used; an interrupted write leaves this\n";
  findings.throw_if_any(folder);
}

}  // namespace dragoman::internal
