// Stage: one step on the way to a student, whose outputs are in a folder of its own.
//
// FOLDER/stages/NAME.json records what the outputs were made from (settings, checksums of the files read) and, once the
// stage is done, what it reports. The outputs in FOLDER/NAME are used again as long as that record says the same; else
// they are removed, and the stage begins anew. So a changed option repeats only what depends on it, and a stage that
// was killed finds what it had done.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/checksum.h"

namespace dragoman::internal {

class Stage {
 public:
  // `inputs`: everything that the outputs depend on. Removes outputs of other inputs.
  Stage(const std::string& folder, const std::string& name, nlohmann::ordered_json inputs);
  // As another process has opened it, whose record this is: reads and removes nothing.
  static Stage opened_by_another(const std::string& folder, const std::string& name,
                                 nlohmann::ordered_json record);

  bool is_done() const { return record_.contains("report"); }
  const nlohmann::ordered_json& report() const { return record_.at("report"); }
  const nlohmann::ordered_json& record() const { return record_; }

  const std::string& folder() const { return outputs_; }
  std::string path(const std::string& file) const { return outputs_ + "/" + file; }

  // Before outputs that are whole are changed: the stage is not done until it finishes again.
  void reopen();
  // All outputs are written and flushed.
  void finish(nlohmann::ordered_json report);

 private:
  Stage() = default;

  std::string outputs_, record_path_;
  nlohmann::ordered_json record_;
};

// What the stage of these inputs has reported; null unless it is done. Changes nothing.
nlohmann::ordered_json report_of_stage(const std::string& folder, const std::string& name,
                                       const nlohmann::ordered_json& inputs);

// The JSON of a file; null where there is none, or an unfinished or damaged one.
nlohmann::ordered_json read_record(const std::string& path);

// What a stage reads, for its record: checksums of the contents.
nlohmann::ordered_json file_checksums(const std::vector<std::string>& paths);

}  // namespace dragoman::internal
