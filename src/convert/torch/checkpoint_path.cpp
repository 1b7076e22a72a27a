#include "convert/torch/checkpoint_path.h"

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "convert/torch/file.h"

namespace dragoman::internal {

namespace fs = std::filesystem;

std::string checkpoint_path(const std::string& source) {
  if (!fs::is_directory(source)) return source;
  for (const char* name : {"checkpoint_best.pt", "model.pt"}) {
    const fs::path path = fs::path(source) / name;
    if (fs::exists(path)) return path.string();
  }
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(source))
    if (entry.path().extension() == ".pt") found.push_back(entry.path().string());
  if (found.size() == 1) return found[0];
  throw Error("{} has {} checkpoints: name one of its .pt files", source, found.empty() ? "no" : "several");
}

bool checkpoint_has(const std::string& source, const std::function<bool(const PickleValue& root)>& like) {
  try {
    const std::string path = checkpoint_path(source);
    if (fs::path(path).extension() != ".pt") return false;
    const TorchFile file = open_torch(path);
    return like(*file.pickle.root);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace dragoman::internal
