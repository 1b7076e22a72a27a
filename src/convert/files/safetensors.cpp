#include "convert/files/safetensors.h"

#include <memory>
#include <utility>

#include "base/error.h"
#include "base/quotes.h"
#include "convert/files/sharded.h"
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
      throw Error("{}: tensor {} has the unsupported type {}; save it in another type", path,
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

}  // namespace

ForeignTensors read_foreign_safetensors(const std::string& path) {
  return path.ends_with(".json") ? read_sharded(path, read_one) : read_one(path);
}

}  // namespace dragoman::internal
