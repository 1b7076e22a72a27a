#include "train/checkpoints.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <new>
#include <set>
#include <span>

#include "base/checksum.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "train/finite.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

constexpr const char* manifest_name = "manifest.json";
constexpr const char* prefix = "step-";

std::string checksum(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> buffer(1 << 20);
  Checksum sum;
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), file.gcount() > 0)
    sum.add(std::as_bytes(std::span(buffer).first(static_cast<size_t>(file.gcount()))));
  if (!file.eof()) throw Error("{} cannot be read", path);
  return sum.text();
}

nlohmann::json file_facts(const fs::path& path) {
  return {{"bytes", fs::file_size(path)}, {"xxh3", checksum(path)}};
}

nlohmann::json read_json(const fs::path& path) {
  try {
    return parse_json(read_file(path.string()));
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} is not JSON: {}", path.string(), reason_of(error));
  }
}

// What is wrong with a checkpoint's files; empty if nothing is. Sets what its manifest says about it.
std::string defect_of(CheckpointInfo& checkpoint, bool with_contents) {
  try {
    const fs::path folder = checkpoint.path;
    const nlohmann::json manifest = read_json(folder / manifest_name);
    if (!manifest.value("on_schedule", true)) checkpoint.reason = CheckpointReason::extra;
    checkpoint.best_step = manifest.contains("best_step") ? integer_at(manifest, "best_step") : -1;
    for (const auto& [name, facts] : manifest.at("files").items()) {
      const fs::path file = folder / name;
      if (!fs::exists(file)) return name + " is missing";
      if (facts.at("bytes") != fs::file_size(file)) return name + " has the wrong size";
      if (!with_contents) continue;
      if (checksum(file.string()) != facts.at("xxh3")) return name + " has the wrong checksum";
      if (file.extension() != ".safetensors") continue;
      const std::string tensor = first_non_finite(SafetensorsFile::open(file.string()).entries());
      if (!tensor.empty()) return fmt::format("{} has values in {} that are not finite", name, tensor);
    }
    return "";
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  }
}

// The step in a folder's name: step-00000120, or step-00000120.2 if there was an incomplete one of that name.
std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with(prefix)) return {};
  int64_t step = 0;
  const char* begin = name.data() + std::char_traits<char>::length(prefix);
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), step);
  if (error != std::errc() || (end != name.data() + name.size() && *end != '.')) return {};
  return step;
}

// All folders with the name of a checkpoint, the newest last. An unreadable folder is not treated as empty: the run
// would start over.
std::vector<CheckpointInfo> folders(const std::string& folder) {
  std::vector<CheckpointInfo> found;
  if (!fs::exists(folder)) return found;
  for (const std::string& path : entries_of(folder)) {
    if (const auto step = step_of(fs::path(path).filename().string())) found.push_back({*step, path});
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return std::pair(a.step, a.path) < std::pair(b.step, b.path);
  });
  return found;
}

std::optional<CheckpointInfo> newest_intact(std::vector<CheckpointInfo> found) {
  for (auto it = found.rbegin(); it != found.rend(); ++it) {
    const std::string defect = defect_of(*it, true);
    if (defect.empty()) return *it;
    log_warning("skipping the checkpoint {}: {}", it->path, defect);
  }
  return {};
}

// A crash came before the end of save(), or in the middle of remove().
bool is_incomplete(const CheckpointInfo& checkpoint) {
  std::error_code error;
  return !fs::exists(fs::path(checkpoint.path) / manifest_name, error) && !error;
}

void remove(const CheckpointInfo& checkpoint) {
  std::error_code ignored;
  fs::remove(fs::path(checkpoint.path) / manifest_name, ignored);  // first, so that it never looks complete
  fs::remove_all(checkpoint.path, ignored);
}

fs::path unused_name(const fs::path& folder, int64_t step) {
  const std::string name = fmt::format("{}{:08}", prefix, step);
  fs::path path = folder / name;
  for (int i = 2; fs::exists(path); ++i) path = folder / fmt::format("{}.{}", name, i);
  return path;
}

}  // namespace

void Checkpoints::save(int64_t step, const nlohmann::json& state, const std::vector<CheckpointFile>& files,
                       CheckpointReason reason, int64_t best_step) const {
  fs::path path;
  try {
    path = unused_name(folder_, step);
    make_folder(path.string());
    nlohmann::json facts;
    for (const CheckpointFile& file : files) {
      write_safetensors((path / file.name).string(), {{"format", "dragoman 1"}}, file.entries);
      facts[file.name] = file_facts(path / file.name);
    }
    write_file((path / "state.json").string(), {json_text(state, 1)});
    facts["state.json"] = file_facts(path / "state.json");
    const nlohmann::json manifest = {{"format", 1},
                                     {"step", step},
                                     {"on_schedule", reason == CheckpointReason::on_schedule},
                                     {"best_step", best_step},
                                     {"files", facts}};
    write_file((path / manifest_name).string(), {json_text(manifest, 1)});
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
    throw Error("the checkpoint of step {} could not be written: {}", step, error.what());
  }
}

std::vector<CheckpointInfo> Checkpoints::list() const {
  std::vector<CheckpointInfo> complete;
  for (CheckpointInfo& found : folders(folder_)) {
    if (!defect_of(found, false).empty()) continue;
    if (!complete.empty() && complete.back().step == found.step) complete.pop_back();
    complete.push_back(found);
  }
  return complete;
}

std::optional<CheckpointInfo> Checkpoints::newest() const { return newest_intact(folders(folder_)); }

std::optional<CheckpointInfo> Checkpoints::of_step(int64_t step) const {
  std::vector<CheckpointInfo> found = folders(folder_);
  std::erase_if(found, [&](const CheckpointInfo& one) { return one.step != step; });
  return newest_intact(std::move(found));
}

std::optional<CheckpointInfo> Checkpoints::newest_before(int64_t step) const {
  std::vector<CheckpointInfo> found = folders(folder_);
  std::erase_if(found, [&](CheckpointInfo& one) {
    return one.step >= step || (defect_of(one, false).empty() && one.reason == CheckpointReason::extra);
  });
  return newest_intact(std::move(found));
}

void Checkpoints::remove_after(int64_t step) const {
  for (const CheckpointInfo& found : folders(folder_)) {
    if (found.step > step) remove(found);
  }
}

void Checkpoints::prune() const {
  std::set<int64_t> best;        // steps whose weights a checkpoint that stays calls the best
  int64_t kept = 0, later = -1;  // the step of the complete one after it
  std::vector<CheckpointInfo> newest_first = folders(folder_);
  std::ranges::reverse(newest_first);
  for (CheckpointInfo& found : newest_first) {
    if (is_incomplete(found) || found.step == later) {
      remove(found);
      continue;
    }
    if (!defect_of(found, false).empty()) continue;
    const bool newest = later < 0;
    later = found.step;
    const bool counts = found.reason == CheckpointReason::on_schedule;
    if (newest || (counts && kept < keep_) || best.contains(found.step)) {
      best.insert(found.best_step);
    } else {
      remove(found);
    }
    kept += counts;
  }
}

std::vector<CheckpointDefect> Checkpoints::verify() const {
  std::vector<CheckpointDefect> all;
  for (CheckpointInfo& found : folders(folder_)) {
    if (!is_incomplete(found)) all.push_back({found.path, defect_of(found, true)});
  }
  return all;
}

std::vector<std::string> Checkpoints::incomplete() const {
  std::vector<std::string> paths;
  for (const CheckpointInfo& found : folders(folder_)) {
    if (is_incomplete(found)) paths.push_back(found.path);
  }
  return paths;
}

nlohmann::json Checkpoints::read_state(const CheckpointInfo& checkpoint) {
  return read_json(fs::path(checkpoint.path) / "state.json");
}

void verify_checkpoint_file(const std::string& path) {
  const fs::path manifest_path = fs::path(path).parent_path() / manifest_name;
  if (!fs::exists(manifest_path)) return;
  const nlohmann::json manifest = read_json(manifest_path);
  const auto written = nlohmann::json::json_pointer("/files") / fs::path(path).filename().string() / "xxh3";
  if (!manifest.contains(written) || manifest.at(written) != checksum(path))
    throw Error("{} is damaged: it does not match its checksum in {}; leave its checkpoint out", path,
                manifest_path.string());
}

bool has_checkpoints(const std::string& model_folder) {
  return !Checkpoints(model_folder + "/checkpoints", 1).list().empty();
}

}  // namespace dragoman::internal
