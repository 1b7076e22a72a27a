#include "convert/marian/written_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/files.h"
#include "convert/files/npz.h"

namespace dragoman::internal {
namespace {

constexpr const char* configuration_member = "special:model.yml";
constexpr uint64_t float32_code = 0x404, int8_code = 0x101, intgemm8_code = 0x4101;
constexpr size_t block_bytes = 256;
constexpr float largest_integer = 127;

template <class Number>
std::string bytes_of_all(std::span<const Number> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}
template <class Number>
std::string bytes_of_one(Number number) {
  return bytes_of_all(std::span<const Number>(&number, 1));
}

// A tensor in a .bin file.
struct BinaryItem {
  std::string name;
  uint64_t type;
  std::vector<int32_t> shape;
  std::string data;
};

BinaryItem item_of_floats(const std::string& name, const MarianTensor& tensor) {
  return {name,
          float32_code,
          {static_cast<int32_t>(tensor.rows), static_cast<int32_t>(tensor.columns)},
          bytes_of_all(std::span(tensor.values))};
}

// The integers of a product's matrix are transposed, those of an embedding are not; the multiplier follows them.
BinaryItem item_of_integers(const std::string& name, const MarianTensor& tensor) {
  float largest = 0;
  for (const float value : tensor.values) largest = std::max(largest, std::abs(value));
  const float multiplier = largest > 0 ? largest_integer / largest : largest_integer;
  const auto rounded = [&](int64_t row, int64_t column) {
    const float value = tensor.values[static_cast<size_t>(row * tensor.columns + column)] * multiplier;
    return static_cast<char>(std::clamp(std::nearbyint(value), -largest_integer, largest_integer));
  };
  BinaryItem item = {
      name, intgemm8_code, {static_cast<int32_t>(tensor.rows), static_cast<int32_t>(tensor.columns)}, {}};
  item.data.reserve(tensor.values.size() + sizeof multiplier);
  if (name.ends_with("Wemb")) {
    for (int64_t row = 0; row < tensor.rows; ++row)
      for (int64_t column = 0; column < tensor.columns; ++column) item.data += rounded(row, column);
  } else {
    for (int64_t column = 0; column < tensor.columns; ++column)
      for (int64_t row = 0; row < tensor.rows; ++row) item.data += rounded(row, column);
  }
  item.data += bytes_of_one(multiplier);
  return item;
}

void pad_to_blocks(std::string& bytes) {
  bytes.resize((bytes.size() + block_bytes - 1) / block_bytes * block_bytes);
}

void write_items(const std::string& path, std::vector<BinaryItem> items) {
  std::string begin = bytes_of_one(uint64_t{1}) + bytes_of_one(static_cast<uint64_t>(items.size()));
  for (BinaryItem& item : items) {
    pad_to_blocks(item.data);
    for (const uint64_t number :
         {uint64_t{item.name.size() + 1}, item.type, uint64_t{item.shape.size()}, uint64_t{item.data.size()}})
      begin += bytes_of_one(number);
  }
  for (const BinaryItem& item : items) begin += item.name + '\0';
  for (const BinaryItem& item : items) begin += bytes_of_all(std::span(std::as_const(item.shape)));
  const size_t padding = block_bytes - (begin.size() + sizeof(uint64_t)) % block_bytes;
  begin += bytes_of_one(static_cast<uint64_t>(padding)) + std::string(padding, '\0');
  std::vector<std::string_view> parts = {begin};
  for (const BinaryItem& item : items) parts.push_back(item.data);
  write_file(path, parts);
}

}  // namespace

void write_marian_npz(const std::string& path, const MarianTensors& tensors,
                      const std::string& configuration) {
  std::vector<NpzMember> members;
  for (const auto& [name, tensor] : tensors.by_name)
    members.push_back({name, "<f4", {tensor.rows, tensor.columns}, std::as_bytes(std::span(tensor.values))});
  const std::string ended = configuration + '\0';
  members.push_back({configuration_member, "|i1", {std::ssize(ended)}, std::as_bytes(std::span(ended))});
  write_npz(path, members);
}

bool is_in_bergamots_integers(const std::string& name) {
  if (name.ends_with("Wemb")) return true;
  const size_t at = name.rfind("_W");
  return at != name.npos && at + 3 >= name.size();
}

void write_bergamot_bin(const std::string& path, const MarianTensors& tensors,
                        const std::string& configuration, const std::map<std::string, float>& activations) {
  std::vector<BinaryItem> items;
  for (const auto& [name, tensor] : tensors.by_name)
    items.push_back(is_in_bergamots_integers(name) ? item_of_integers(name, tensor)
                                                   : item_of_floats(name, tensor));
  for (const auto& [name, multiplier] : activations)
    items.push_back({name + "_QuantMultA", float32_code, {1, 1}, bytes_of_one(multiplier)});
  const std::string ended = configuration + '\0';
  items.push_back({configuration_member, int8_code, {static_cast<int32_t>(ended.size())}, ended});
  write_items(path, std::move(items));
}

}  // namespace dragoman::internal
