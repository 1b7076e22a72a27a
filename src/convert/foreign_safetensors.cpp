#include "convert/foreign_safetensors.h"

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/quotes.h"
#include "model/safetensors.h"

namespace dragoman::internal {
namespace {

ElementType element_type(const std::string& path, const TensorEntry& entry) {
  switch (entry.dtype) {
    case Dtype::f32:
      return ElementType::f32;
    case Dtype::f16:
      return ElementType::f16;
    case Dtype::bf16:
      return ElementType::bf16;
    case Dtype::f64:
      return ElementType::f64;
    case Dtype::i8:
      return ElementType::i8;
    case Dtype::u8:
      return ElementType::u8;
    case Dtype::i16:
      return ElementType::i16;
    case Dtype::i32:
      return ElementType::i32;
    case Dtype::i64:
      return ElementType::i64;
    case Dtype::boolean:
      return ElementType::boolean;
    default:
      throw Error("{}: tensor {} is {}, a type that is not supported; save it in another", path,
                  in_quotes(entry.name), describe(entry));
  }
}

ForeignTensors read_one(const std::string& path) {
  const auto file = std::make_shared<const SafetensorsFile>(SafetensorsFile::open(path));
  ForeignTensors tensors;
  for (const TensorEntry& entry : file->entries()) {
    auto tensor = row_by_row(element_type(path, entry), entry.shape, entry.bytes, file);
    if (!tensor) throw Error("{}: tensor {} is too large: {}", path, in_quotes(entry.name), describe(entry));
    tensors.emplace(entry.name, std::move(*tensor));
  }
  return tensors;
}

// {"weight_map": {"TENSOR": "FILE", ...}}
std::map<std::string, std::string> read_index(const std::string& path) {
  try {
    return parse_json(read_file(path)).at("weight_map");
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} is not an index of safetensors files: {}", path, error.what());
  }
}

ForeignTensors read_shards(const std::string& index) {
  const std::filesystem::path folder = std::filesystem::path(index).parent_path();
  std::map<std::string, ForeignTensors> shards;
  ForeignTensors tensors;
  for (const auto& [tensor, name] : read_index(index)) {
    if (name.empty() || std::filesystem::path(name).filename() != name)
      throw Error("{} names the file {}; files must be beside it", index, in_quotes(name));
    const std::string path = folder / name;
    if (!shards.contains(name)) shards.emplace(name, read_one(path));
    auto found = shards[name].extract(tensor);
    if (found.empty())
      throw Error("{} has no tensor {}, which {} says it has", path, in_quotes(tensor), index);
    tensors.insert(std::move(found));
  }
  return tensors;
}

}  // namespace

ForeignTensors read_foreign_safetensors(const std::string& path) {
  return path.ends_with(".json") ? read_shards(path) : read_one(path);
}

}  // namespace dragoman::internal
