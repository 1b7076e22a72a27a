// Weights as decoding holds them: mapped or rounded, from a file of floats or of fewer bits.
#include "model/decoding_weights.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "model/files_without_checksums.h"
#include "model/small_models.h"
#include "model/weights.h"

namespace dragoman::internal {
namespace {

class HeldWeights : public testing::TestWithParam<size_t> {
 protected:
  HeldWeights() { write_weights(path_, small_.model.parameters, small_.model.parameters.weights()); }
  ~HeldWeights() override {
    std::filesystem::remove(path_);
    std::filesystem::remove(rounded_path_);
  }

  // The logits of a sentence by the weights of this file.
  std::vector<float> logits(const std::string& path, RequestedPrecision wanted) {
    Device device(kernels_for(nullptr), 2);
    Transformer model(config_, device, Buffers::none_yet);
    map_weights(device, path, model.parameters, wanted);
    return logits(model);
  }
  std::vector<float> logits(Transformer& model) {
    Pass pass{model.device};
    const Tokens source = pack(model.device, {{5, 9, 2, 11}}, {0}),
                 target = pack(model.device, {{1, 7, 3}}, {0});
    const EncodedSource memory = {.encoded = encode(pass, model, source), .spans = &source.spans};
    return rows_of(next_word_logits(pass, model, decode(pass, model, target, memory)), {0, 3});
  }
  void write_rounded(RequestedPrecision precision, const Kernels& kernels = kernels_for(nullptr),
                     int threads = 1) {
    Device device(kernels, threads);
    Transformer model(config_, device, Buffers::none_yet);
    map_weights(device, path_, model.parameters, precision);
    write_decoding_weights(rounded_path_, model.parameters);
  }
  std::string error_of(const std::string& path, RequestedPrecision wanted = RequestedPrecision::as_saved) {
    try {
      logits(path, wanted);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  const ModelConfig config_ = small_configs()[GetParam()].config;
  SmallModel small_{config_, kernels_for(nullptr), 2};
  const std::string path_ = testing::TempDir() + "model.safetensors";
  const std::string rounded_path_ = path_ + ".rounded";
};

TEST_P(HeldWeights, FloatsHaveTheirBits) {
  EXPECT_TRUE(same_bits(logits(path_, RequestedPrecision::as_saved), logits(small_.model)));
}

TEST_P(HeldWeights, FewerBitsAreNear) {
  const std::vector<float> exact = logits(small_.model);
  const float most = std::abs(*std::ranges::max_element(exact, {}, [](float x) { return std::abs(x); }));
  for (const RequestedPrecision precision : {RequestedPrecision::bf16, RequestedPrecision::int8}) {
    const std::vector<float> got = logits(path_, precision);
    EXPECT_FALSE(same_bits(got, exact));
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], exact[i], 0.05 * most);
  }
}

TEST_P(HeldWeights, AFileInFewerBitsIsWhatRoundingMakes) {
  for (const RequestedPrecision precision : {RequestedPrecision::bf16, RequestedPrecision::int8}) {
    write_rounded(precision);
    EXPECT_TRUE(same_bits(logits(rounded_path_, RequestedPrecision::as_saved), logits(path_, precision)));
    EXPECT_TRUE(same_bits(logits(rounded_path_, precision), logits(path_, precision)));
    EXPECT_NE(
        error_of(rounded_path_, RequestedPrecision::fp32).find("use the model that they were made from"),
        std::string::npos);
    EXPECT_THROW(read_weights(rounded_path_, small_.model.parameters), Error);
  }
}

TEST_P(HeldWeights, AFileInFewerBitsIsTheSameWhereverItIsMade) {
  for (const RequestedPrecision precision : {RequestedPrecision::bf16, RequestedPrecision::int8}) {
    write_rounded(precision, kernels_for("baseline"));
    const std::string wanted = read_file(rounded_path_);
    for (const Kernels* kernels : every_instruction_set()) {
      write_rounded(precision, *kernels, 3);
      EXPECT_TRUE(read_file(rounded_path_) == wanted) << kernels->name;
    }
  }
}

// Wherever a file is cut, the error comes before anything is used.
TEST_P(HeldWeights, ACutFileIsRefused) {
  write_rounded(RequestedPrecision::int8);
  const std::string whole = read_file(rounded_path_);
  for (size_t size = 0; size < whole.size(); size += 1 + size / 2) {
    write_file(rounded_path_, {whole.substr(0, size)});
    EXPECT_NE(error_of(rounded_path_).find(rounded_path_), std::string::npos)
        << size << ": " << error_of(rounded_path_);
  }
}

TEST_P(HeldWeights, TensorsOfOtherModelsAreRefused) {
  write_rounded(RequestedPrecision::int8);
  Device device(kernels_for(nullptr), 1);
  for (auto change : {+[](ModelConfig& c) { c.d_ff += 16; }, +[](ModelConfig& c) { c.encoder_layers += 1; },
                      +[](ModelConfig& c) { c.decoder_layers = 3 - c.decoder_layers; }}) {
    ModelConfig other = config_;
    change(other);
    Transformer model(other, device, Buffers::none_yet);
    EXPECT_THROW(map_weights(device, rounded_path_, model.parameters), Error);
  }
}

// Writes a number into a file, `before_end` bytes before its end.
void poke(const std::string& path, std::ptrdiff_t before_end, float value) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-before_end, std::ios::end);
  file.write(reinterpret_cast<const char*>(&value), sizeof value);
}

// In a file of any precision, what is small is always looked at: one bad number is named.
TEST_P(HeldWeights, WhatIsNoNumberIsNamed) {
  for (const RequestedPrecision precision :
       {RequestedPrecision::fp32, RequestedPrecision::bf16, RequestedPrecision::int8}) {
    write_rounded(precision);
    remove_checksums(rounded_path_);
    const SafetensorsFile file = SafetensorsFile::open(rounded_path_);
    const std::byte* end = file.entries().back().bytes.data() + file.entries().back().bytes.size();
    int seen = 0;
    for (const TensorEntry& entry : file.entries()) {
      const bool is_small = entry.name.ends_with(".gain") || entry.name.ends_with(".bias");
      if (!is_small && !entry.name.ends_with(".scales")) continue;
      const std::ptrdiff_t last = end - (entry.bytes.data() + entry.bytes.size()) + 4;
      poke(rounded_path_, last, seen++ % 2 == 0 ? NAN : -INFINITY);
      EXPECT_TRUE(error_of(rounded_path_)
                      .starts_with(rounded_path_ + ": " + entry.name + " contains non-finite values"))
          << entry.name << ": " << error_of(rounded_path_);
      poke(rounded_path_, last, 1);
    }
    EXPECT_GT(seen, 20);
    EXPECT_EQ(error_of(rounded_path_), "no error");
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryKind, HeldWeights, testing::Range<size_t>(0, small_configs().size()));

}  // namespace
}  // namespace dragoman::internal
