#include "convert/marian/file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/quotes.h"
#include "convert/files/byte_reader.h"
#include "convert/files/npz.h"
#include "convert/files/packed.h"
#include "convert/files/zip_archive.h"

namespace dragoman::internal {
namespace {

constexpr uint64_t plain_version = 1, encrypted_version = 2;
constexpr uint64_t max_model_bytes = uint64_t{8} << 30;  // of a compressed file's contents
constexpr std::string_view configuration_name = "special:model.yml";

// Types that a file may have; the codes of Marian and of its fork differ.
struct BinaryType {
  uint64_t code;
  ElementType type;
  bool has_multiplier;
};
constexpr std::array<BinaryType, 9> binary_types = {{{0x404, ElementType::f32, false},
                                                     {0x402, ElementType::f16, false},
                                                     {0x408, ElementType::f64, false},
                                                     {0x101, ElementType::i8, false},
                                                     {0x201, ElementType::u8, false},
                                                     {0x4101, ElementType::i8, true},
                                                     {0x4102, ElementType::i16, true},
                                                     {0x10001, ElementType::i8, true},
                                                     {0x10002, ElementType::i16, true}}};

struct BinaryHeader {
  uint64_t name_size, type, dimensions, bytes;
};

const BinaryType& find_type(const ByteReader& file, const std::string& name, uint64_t code) {
  const auto found = std::ranges::find(binary_types, code, &BinaryType::code);
  if (found == binary_types.end())
    file.fail(
        "has the tensor {} in the format {:#x}, which is specific to one kind of processor; convert the "
        "original model",
        in_quotes(name), code);
  return *found;
}

// The integers of a matrix are transposed; the shape is not. Embeddings are left as they are.
void transpose(const std::string& name, ForeignTensor& tensor) {
  if (name.ends_with("Wemb") || tensor.shape.size() != 2) return;
  tensor.strides = {1, tensor.shape[0]};
}

// `data` are the tensor, its multiplier if it has one, and padding.
void add_tensor(const ByteReader& file, MarianFile& model, const std::string& name, uint64_t type_code,
                std::vector<int64_t> shape, const SharedBytes& data) {
  const BinaryType& type = find_type(file, name, type_code);
  const auto size = bytes_of(type.type, shape);
  const size_t behind = type.has_multiplier ? sizeof(float) : 0;
  if (!size || data.bytes.size() < behind || *size > data.bytes.size() - behind)
    file.fail("is damaged: the tensor {} has fewer bytes than its shape requires", in_quotes(name));
  ForeignTensor tensor = *row_by_row(type.type, std::move(shape), data.bytes.first(*size), data.owner);
  if (type.has_multiplier) {
    float multiplier;
    std::memcpy(&multiplier, data.bytes.data() + *size, sizeof multiplier);
    if (!std::isfinite(multiplier) || multiplier <= 0)
      file.fail("is damaged: the quantization multiplier of {} is {}", in_quotes(name), multiplier);
    tensor.scales = {multiplier};
    transpose(name, tensor);
  }
  if (!model.tensors.emplace(name, std::move(tensor)).second)
    file.fail("has the tensor {} twice", in_quotes(name));
}

// Headers, names, dimensions and data of all tensors, each as a block of its own.
MarianFile read_binary(const std::string& path, const SharedBytes& whole) {
  ByteReader file(path, whole.bytes);
  const auto version = file.number<uint64_t>();
  if (version == encrypted_version) file.fail("is encrypted and cannot be read");
  if (version != plain_version) file.fail("is not a Marian model, or has an unsupported version");
  const auto count = file.number<uint64_t>();
  if (count > file.left() / sizeof(BinaryHeader))
    file.fail("is truncated or damaged: it should have {} tensors", count);
  std::vector<BinaryHeader> headers(count);
  for (BinaryHeader& header : headers) header = file.number<BinaryHeader>();
  std::vector<std::string> names;
  for (const BinaryHeader& header : headers) {
    const std::string_view name = file.text(header.name_size);
    names.emplace_back(name.substr(0, name.find('\0')));
  }
  std::vector<std::vector<int64_t>> shapes(count);
  for (size_t i = 0; i < count; ++i) {
    if (headers[i].dimensions > file.left() / sizeof(int32_t))
      file.fail("is truncated or damaged in its dimensions");
    for (uint64_t d = 0; d < headers[i].dimensions; ++d) shapes[i].push_back(file.number<int32_t>());
  }
  file.bytes(file.number<uint64_t>());  // padding
  MarianFile model;
  for (size_t i = 0; i < count; ++i)
    add_tensor(file, model, names[i], headers[i].type, std::move(shapes[i]),
               {file.bytes(headers[i].bytes), whole.owner});
  return model;
}

void take_configuration(MarianFile& model) {
  const auto found = model.tensors.find(configuration_name);
  if (found == model.tensors.end()) return;
  const std::span<const std::byte> bytes = found->second.data;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  model.configuration = text.substr(0, text.find('\0'));
  model.tensors.erase(found);
}

}  // namespace

MarianFile open_marian(const std::string& path) {
  SharedBytes file = open_packed(path, max_model_bytes);
  MarianFile model;
  if (ZipArchive::is_zip(file.bytes))
    model.tensors = read_npz(path, std::move(file));
  else
    model = read_binary(path, file);
  take_configuration(model);
  return model;
}

}  // namespace dragoman::internal
