// The weights that a model's file stands for.
//
// Beside a weight the file may have a low-rank update of it (nn/low_rank.h): the model's weight is their sum. And the
// file may be an update of another model, its base: then it has only the tensors that differ, and its metadata name the
// base's folder, relative to the file's own, and the base's fingerprint, so that another base is not taken for it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/safetensors.h"
#include "nn/parameters.h"

namespace dragoman::internal {

// As the metadata of files have it.
const char* name_of(Precision precision);

class WeightsFile {
 public:
  // The base is opened with it. An Error where it is not there, or not the same any more.
  explicit WeightsFile(const std::string& path);

  Precision precision() const { return precision_; }
  const std::string& base() const { return base_folder_; }  // empty where there is none

  // The file that has this tensor, or should have it.
  const SafetensorsFile& with(std::string_view name) const;
  bool has(std::string_view name) const { return with(name).has(name); }

  // The model's values of a parameter, with its low-rank update added.
  struct Values {
    std::span<const float> floats;
    std::shared_ptr<const void> owner;  // of a sum; null: they are valid as long as the WeightsFile
  };
  Values values(const Parameter& parameter) const;

  // Throws an Error if a file has a tensor of another name, updates apart.
  void check_names(const std::vector<std::string>& names) const;

  // By the files' checksums.
  void verify(int threads = 1) const;

 private:
  std::string path_, base_folder_;
  SafetensorsFile file_;
  Precision precision_;
  std::optional<SafetensorsFile> base_;
};

// For a file in `folder` that is an update of the model in `base`.
Metadata update_metadata(const std::string& folder, const std::string& base);

}  // namespace dragoman::internal
