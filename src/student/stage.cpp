#include "student/stage.h"

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

std::string record_path(const std::string& folder, const std::string& name) {
  return folder + "/stages/" + name + ".json";
}

bool is_of(const nlohmann::ordered_json& record, const nlohmann::ordered_json& inputs,
           const std::string& outputs) {
  return record.is_object() &&
         json_text(record.value("inputs", nlohmann::ordered_json())) == json_text(inputs) &&
         fs::exists(outputs);
}

void remove_outputs(const std::string& folder) {
  std::error_code failure;
  fs::remove_all(folder, failure);
  if (failure) throw Error("cannot remove {}: {}", folder, failure.message());
}

}  // namespace

Stage::Stage(const std::string& folder, const std::string& name, nlohmann::ordered_json inputs)
    : outputs_(folder + "/" + name),
      record_path_(record_path(folder, name)),
      record_(read_record(record_path_)) {
  make_folder(folder + "/stages");
  if (is_of(record_, inputs, outputs_)) return;
  // The old record goes first: half of what it describes must not be taken for all of it.
  remove_outputs(record_path_);
  remove_outputs(outputs_);
  make_folder(outputs_);
  record_ = {{"inputs", std::move(inputs)}};
  write_file(record_path_, {json_text(record_, 1)});
}

Stage Stage::opened_by_another(const std::string& folder, const std::string& name,
                               nlohmann::ordered_json record) {
  Stage stage;
  stage.outputs_ = folder + "/" + name;
  stage.record_path_ = record_path(folder, name);
  stage.record_ = std::move(record);
  return stage;
}

void Stage::reopen() {
  if (record_.erase("report") > 0) write_file(record_path_, {json_text(record_, 1)});
}

void Stage::finish(nlohmann::ordered_json report) {
  record_["report"] = std::move(report);
  write_file(record_path_, {json_text(record_, 1)});
}

nlohmann::ordered_json report_of_stage(const std::string& folder, const std::string& name,
                                       const nlohmann::ordered_json& inputs) {
  const nlohmann::ordered_json record = read_record(record_path(folder, name));
  return is_of(record, inputs, folder + "/" + name) && record.contains("report") ? record.at("report")
                                                                                 : nullptr;
}

nlohmann::ordered_json read_record(const std::string& path) {
  std::error_code none;
  if (!fs::exists(path, none)) return {};
  try {
    return parse_json<nlohmann::ordered_json>(read_file(path));
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

nlohmann::ordered_json file_checksums(const std::vector<std::string>& paths) {
  nlohmann::ordered_json checksums = nlohmann::ordered_json::array();
  for (const std::string& path : paths) checksums.push_back(file_checksum(path));
  return checksums;
}

}  // namespace dragoman::internal
