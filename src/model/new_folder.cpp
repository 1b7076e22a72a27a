#include "model/new_folder.h"

#include <filesystem>

#include "base/files.h"
#include "model/folder.h"

namespace dragoman::internal {

namespace fs = std::filesystem;

void check_new_model_folder(const std::string& folder) {
  if (fs::exists(weights_path(folder)))
    throw UsageError("{} already holds a model: choose another folder", folder);
  check_writable_folder(folder);
}

void copy_all_but_weights(const std::string& from, const std::string& to) {
  make_folder(to);
  for (const char* name :
       {"config.json", "source.spm", "target.spm", "shared.spm", "shortlist.safetensors"}) {
    const fs::path file = fs::path(from) / name;
    if (fs::exists(file)) write_file((fs::path(to) / name).string(), {read_file(file.string())});
  }
}

}  // namespace dragoman::internal
