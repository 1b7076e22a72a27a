// The files that tests/golden/make_torch_golden.py and make_foreign_golden.py wrote, and what is in them.
#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "convert/files/tensors.h"
#include "temporary_folder.h"

namespace dragoman::internal {

inline const std::filesystem::path golden =
    std::filesystem::path(DRAGOMAN_SOURCE_DIR) / "tests/golden/fixtures";
inline const std::filesystem::path fixtures = golden / "torch";

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

// All tensors of a tensors.json, and only this many others.
inline void expect_golden(const ForeignTensors& tensors, const std::filesystem::path& folder = fixtures,
                          size_t others = 0) {
  const nlohmann::json expected = nlohmann::json::parse(contents(folder / "tensors.json"));
  EXPECT_EQ(tensors.size(), expected.size() + others);
  for (const auto& [name, values] : expected.items()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(tensors.contains(name));
    expect_tensor(tensors.at(name), values);
  }
}

// Rejected wherever it is truncated.
template <class Function>
void expect_no_part_of(const std::string& whole, Function&& read) {
  const TemporaryFolder folder;
  const std::string path = folder.write("cut", whole);
  for (size_t size = whole.size(); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    EXPECT_NE(error_of([&] { read(path); }), "") << size << " of " << whole.size();
  }
}

// Read or refused whichever bit is flipped; the sanitizers see to the rest.
template <class Function>
void expect_an_end_for_flipped_bits(const std::string& whole, Function&& read) {
  const TemporaryFolder folder;
  const std::string path = folder.write("damaged", whole);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](size_t at, char c) { file.seekp(static_cast<std::streamoff>(at)).put(c).flush(); };
  for (size_t at = 0; at < whole.size(); ++at) {
    put(at, static_cast<char>(whole[at] ^ (1 << at % 8)));
    error_of([&] {
      for (const auto& [name, tensor] : read(path))
        if (tensor.type == ElementType::f32) to_floats(tensor);
    });
    put(at, whole[at]);
  }
}

// An error where one of these files is missing or truncated, and none where all are whole.
template <class Function>
void expect_errors_without_any_of(std::initializer_list<const char*> names, const TemporaryFolder& folder,
                                  Function&& error) {
  for (const char* name : names) {
    const std::string whole = contents(folder.path(name));
    std::filesystem::remove(folder.path(name));
    EXPECT_NE(error(), "") << name;
    for (const size_t size : {size_t{0}, whole.size() / 2, whole.size() - 3}) {
      folder.write(name, whole.substr(0, size));
      EXPECT_NE(error(), "") << name << " of " << size << " bytes";
    }
    folder.write(name, whole);
    EXPECT_EQ(error(), "") << name;
  }
}

// As files store numbers.
template <class Number>
std::string little(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// A string as a pickle has it.
inline std::string pickled(const std::string& text) {
  return "X" + little(static_cast<uint32_t>(text.size())) + text;
}

}  // namespace dragoman::internal
