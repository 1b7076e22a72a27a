// Marian's .bin files, written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/fixtures.h"

namespace dragoman::internal {

struct BinaryTensor {
  std::string name;
  uint64_t type;
  std::vector<int32_t> shape;
  std::string data;
};

template <class Element>
std::string data_of(const std::vector<Element>& values) {
  std::string bytes;
  for (const Element value : values) bytes += little(value);
  return bytes;
}

inline std::string padded(std::string bytes) {
  return bytes + std::string((256 - bytes.size() % 256) % 256, '\0');
}

inline std::string binary_of(const std::vector<BinaryTensor>& tensors) {
  std::string headers, names, shapes, data;
  for (const BinaryTensor& tensor : tensors) {
    headers += little<uint64_t>(tensor.name.size() + 1) + little(tensor.type) +
               little<uint64_t>(tensor.shape.size()) + little<uint64_t>(padded(tensor.data).size());
    names += tensor.name + '\0';
    shapes += data_of(tensor.shape);
    data += padded(tensor.data);
  }
  const std::string begin = little(uint64_t{1}) + little<uint64_t>(tensors.size()) + headers + names + shapes;
  const size_t padding = padded(begin + little(uint64_t{0})).size() - begin.size() - sizeof(uint64_t);
  return begin + little<uint64_t>(padding) + std::string(padding, '\0') + data;
}

}  // namespace dragoman::internal
