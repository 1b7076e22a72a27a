#include "convert/files/sharded.h"

#include <filesystem>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/quotes.h"

namespace dragoman::internal {
namespace {

std::map<std::string, std::string> read_index(const std::string& path) {
  try {
    return parse_json(read_file(path)).at("weight_map");
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} is not a valid index of a model in several files: {}", path, reason_of(error));
  }
}

}  // namespace

ForeignTensors read_sharded(const std::string& index, ForeignTensors (*read_shard)(const std::string& path)) {
  const std::filesystem::path folder = std::filesystem::path(index).parent_path();
  std::map<std::string, ForeignTensors> shards;
  ForeignTensors tensors;
  for (const auto& [tensor, name] : read_index(index)) {
    if (name.empty() || std::filesystem::path(name).filename() != name)
      throw Error("{} names the file {}; files must be beside it", index, in_quotes(name));
    const std::string path = folder / name;
    if (!shards.contains(name)) shards.emplace(name, read_shard(path));
    auto found = shards[name].extract(tensor);
    if (found.empty())
      throw Error("{} has no tensor {}, although {} lists it", path, in_quotes(tensor), index);
    tensors.insert(std::move(found));
  }
  return tensors;
}

}  // namespace dragoman::internal
