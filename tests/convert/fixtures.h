// The files that tests/golden/make_torch_golden.py wrote, and what is in them.
#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "convert/foreign_tensors.h"

namespace dragoman::internal {

inline const std::filesystem::path fixtures =
    std::filesystem::path(DRAGOMAN_SOURCE_DIR) / "tests/golden/fixtures/torch";

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class Function>
std::string error_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

// One element as a number, whatever its type.
inline double number_at(const ForeignTensor& tensor, size_t place) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, tensor.data.data() + place * sizeof value, sizeof value);
    return static_cast<double>(value);
  };
  switch (tensor.type) {
    case ElementType::i8:
      return as(int8_t());
    case ElementType::u8:
    case ElementType::boolean:
      return as(uint8_t());
    case ElementType::i16:
      return as(int16_t());
    case ElementType::i32:
      return as(int32_t());
    case ElementType::i64:
      return as(int64_t());
    default:
      return to_floats(tensor).at(place);
  }
}

inline void expect_tensor(const ForeignTensor& tensor, const nlohmann::json& expected) {
  nlohmann::json shape = tensor.shape;
  EXPECT_EQ(shape, expected["shape"]);
  EXPECT_EQ(describe(tensor).substr(0, describe(tensor).find(' ')), expected["type"]);
  const nlohmann::json& values = expected["values"];
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = values[i].is_string()    ? std::stod(values[i].get<std::string>())
                         : values[i].is_boolean() ? values[i].get<bool>()
                                                  : values[i].get<double>();
    EXPECT_EQ(number_at(tensor, i), tensor.type == ElementType::f64 ? static_cast<float>(value) : value) << i;
  }
}

// All tensors of tensors.json, and no others.
inline void expect_golden(const ForeignTensors& tensors) {
  const nlohmann::json expected = nlohmann::json::parse(contents(fixtures / "tensors.json"));
  EXPECT_EQ(tensors.size(), expected.size());
  for (const auto& [name, values] : expected.items()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(tensors.contains(name));
    expect_tensor(tensors.at(name), values);
  }
}

}  // namespace dragoman::internal
