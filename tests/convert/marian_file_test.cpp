#include <limits>

#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "convert/files/npz.h"
#include "convert/marian/file.h"
#include "fixtures.h"
#include "marian_binary.h"

namespace dragoman::internal {
namespace {

ForeignTensors read_marian(const std::string& path) { return open_marian(path).tensors; }

// --- npz ---

TEST(MarianFile, HasTheArraysThatNumPySaved) {
  for (const char* const name : {"model.npz", "compressed.npz"}) {
    SCOPED_TRACE(name);
    const MarianFile file = open_marian(golden / "marian" / name);
    expect_golden(file.tensors, golden / "marian");
    EXPECT_EQ(file.configuration, "type: transformer\ndim-emb: 4\n");
    EXPECT_EQ(file.tensors.at("columns").strides, (std::vector<int64_t>{1, 2}));
  }
}

TEST(MarianFile, DamagedArchivesAreRefused) {
  for (const char* const name : {"model.npz", "compressed.npz"}) {
    expect_no_part_of(contents(golden / "marian" / name), read_marian);
    expect_an_end_for_flipped_bits(contents(golden / "marian" / name), read_marian);
  }
}

std::string npy(const std::string& header, const std::string& data = std::string(24, '\0')) {
  return "\x93NUMPY\1" + std::string(1, '\0') + little(static_cast<uint16_t>(header.size())) + header + data;
}

std::string refusal_of_npy(const std::string& bytes) {
  return error_of([&] { read_npy("x.npy", {std::as_bytes(std::span(bytes)), nullptr}); });
}

TEST(MarianFile, ArraysThatAreNotSupportedAreRefused) {
  EXPECT_EQ(refusal_of_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }")), "");
  EXPECT_EQ(refusal_of_npy(npy("{'descr':'|i1','fortran_order':True,'shape':(24,)}")), "");
  for (const std::string header :
       {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, x), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, }", "{'descr': '", ""})
    EXPECT_NE(refusal_of_npy(npy(header)), "") << header;
  EXPECT_NE(refusal_of_npy("\x93NUMPY\2" + std::string(1, '\0') + little(~uint32_t{0}) + "{}"), "");
  EXPECT_NE(refusal_of_npy("NUMPY"), "");
}

// --- bin ---

// The matrix 0 1 2 / 3 4 5, divided by 2.
std::string sample_model() {
  const std::string half = little(2.0F);
  return binary_of({{"encoder_l1_ffn_b1", 0x404, {1, 2}, data_of<float>({0.5, -2})},
                    {"encoder_l1_ffn_W1", 0x4101, {2, 3}, data_of<int8_t>({0, 3, 1, 4, 2, 5}) + half},
                    {"encoder_l1_ffn_W2", 0x10002, {2, 3}, data_of<int16_t>({0, 3, 1, 4, 2, 5}) + half},
                    {"Wemb", 0x4101, {2, 3}, data_of<int8_t>({0, 1, 2, 3, 4, 5}) + half},
                    {"special:model.yml", 0x101, {6}, std::string("a: 1\n\0", 6)}});
}

TEST(MarianFile, HasTheTensorsOfABinaryModel) {
  const TemporaryFolder folder;
  const MarianFile file = open_marian(folder.write("model.bin", sample_model()));
  EXPECT_EQ(file.configuration, "a: 1\n");
  EXPECT_EQ(file.tensors.size(), 4U);
  EXPECT_EQ(to_floats(file.tensors.at("encoder_l1_ffn_b1")), (std::vector<float>{0.5, -2}));
  for (const std::string name : {"encoder_l1_ffn_W1", "encoder_l1_ffn_W2", "Wemb"}) {
    const ForeignTensor& tensor = file.tensors.at(name);
    EXPECT_EQ(tensor.shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(file.tensors.at(name).scales, std::vector<float>{2}) << name;
    for (int64_t row = 0, number = 0; row < 2; ++row) {
      for (int64_t column = 0; column < 3; ++column, ++number) {
        const int64_t place = row * tensor.strides[0] + column * tensor.strides[1];
        EXPECT_EQ(number_at(tensor, static_cast<size_t>(place)), static_cast<double>(number)) << name;
      }
    }
  }
  EXPECT_TRUE(file.tensors.at("encoder_l1_ffn_b1").scales.empty());
}

TEST(MarianFile, HasWhatMarianConverted) {
  const nlohmann::json expected = nlohmann::json::parse(contents(golden / "marian/matrices.json"));
  for (const char* const name : {"float32.bin", "intgemm8.bin", "intgemm16.bin"}) {
    const MarianFile file = open_marian(golden / "marian" / name);
    EXPECT_EQ(file.tensors.size(), expected.size());
    for (const auto& [key, matrix] : expected.items()) {
      SCOPED_TRACE(key + " of " + name);
      const ForeignTensor& tensor = file.tensors.at(key);
      EXPECT_EQ(nlohmann::json(tensor.shape), matrix["shape"]);
      const double multiplier = tensor.scales.empty() ? 1 : tensor.scales[0];
      const double error = tensor.scales.empty() ? 0 : 0.501 / multiplier;
      for (int64_t row = 0, number = 0; row < tensor.shape[0]; ++row) {
        for (int64_t column = 0; column < tensor.shape[1]; ++column, ++number) {
          const auto place = static_cast<size_t>(row * tensor.strides[0] + column * tensor.strides[1]);
          EXPECT_NEAR(number_at(tensor, place) / multiplier, matrix["values"][static_cast<size_t>(number)],
                      error);
        }
      }
    }
  }
}

TEST(MarianFile, DamagedBinaryModelsAreRefused) {
  expect_no_part_of(sample_model(), read_marian);
  expect_an_end_for_flipped_bits(sample_model(), read_marian);
}

std::string refusal_of_binary(const std::string& bytes) {
  const TemporaryFolder folder;
  return error_of([&] { read_marian(folder.write("model.bin", bytes)); });
}

TEST(MarianFile, WhatIsNotSupportedIsNamed) {
  EXPECT_NE(refusal_of_binary(little(uint64_t{2})).find("encrypted"), std::string::npos);
  EXPECT_NE(refusal_of_binary(binary_of({{"W", 0x8101, {1}, "x"}})).find("specific to one kind of processor"),
            std::string::npos);
  EXPECT_NE(refusal_of_binary(binary_of({{"W", 0x101, {1}, "x"}, {"W", 0x101, {1}, "x"}})).find("twice"),
            std::string::npos);
  EXPECT_NE(refusal_of_binary(binary_of({{"W", 0x404, {100}, "x"}})), "");
  EXPECT_NE(refusal_of_binary(binary_of({{"W", 0x404, {-1}, "x"}})), "");
  constexpr int32_t most = std::numeric_limits<int32_t>::max();
  EXPECT_NE(refusal_of_binary(binary_of({{"W", 0x404, {most, most, most}, "x"}})), "");
  EXPECT_NE(refusal_of_binary(little(uint64_t{1}) + little(uint64_t{1} << 63)), "");
}

}  // namespace
}  // namespace dragoman::internal
