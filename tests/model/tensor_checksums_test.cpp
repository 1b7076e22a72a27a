// Damaged model files: what has changed since it was written is refused, and nothing crashes.
#include "model/tensor_checksums.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/checksum.h"
#include "base/error.h"
#include "model/files_without_checksums.h"
#include "model/small_models.h"
#include "model/weights.h"

namespace dragoman::internal {
namespace {

class DamagedFile : public testing::Test {
 protected:
  DamagedFile() { write_weights(path_, small_.model.parameters, small_.model.parameters.weights()); }
  ~DamagedFile() override { std::filesystem::remove(path_); }

  void write_rounded(RequestedPrecision precision) {
    Transformer model(config_, device_, Buffers::none_yet);
    map_weights(device_, path_, model.parameters, precision);
    write_decoding_weights(path_, model.parameters);
  }
  void overwrite(size_t at, char c) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at)).put(c);
  }
  // The message where the file cannot be loaded, else nothing.
  std::string error_of_mapping() {
    return error_of([&] {
      Transformer model(config_, device_, Buffers::none_yet);
      map_weights(device_, path_, model.parameters);
    });
  }
  bool maps_what_was_written() {
    Transformer model(config_, device_, Buffers::none_yet);
    map_weights(device_, path_, model.parameters);
    return std::ranges::equal(model.parameters.list(), small_.model.parameters.list(),
                              [](const Parameter& a, const Parameter& b) {
                                return std::equal(a.value.data(), a.value.data() + a.size(), b.value.data());
                              });
  }
  std::string error_of_reading() {
    return error_of([&] { read_weights(path_, small_.model.parameters); });
  }
  template <class Load>
  std::string error_of(Load load) {
    try {
      load();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  size_t data_begin() const {
    uint64_t size = 0;
    const std::string contents = read_file(path_);
    std::copy_n(contents.data(), sizeof size, reinterpret_cast<char*>(&size));
    return sizeof size + size;
  }

  const ModelConfig config_ = {.encoder_layers = 1,
                               .decoder_layers = 1,
                               .d_model = 8,
                               .heads = 2,
                               .d_ff = 12,
                               .source_vocabulary = 9,
                               .target_vocabulary = 7};
  Device device_{kernels_for(nullptr), 1};
  SmallModel small_{config_, kernels_for(nullptr), 1};
  const std::string path_ = testing::TempDir() + "model.safetensors";
};

TEST_F(DamagedFile, EveryTensorHasAChecksum) {
  EXPECT_EQ(checksum_of(""), "2d06800538d394c2") << "of XXH3";
  const auto file = SafetensorsFile::open(path_);
  for (const TensorEntry& entry : file.entries())
    EXPECT_EQ(file.metadata("xxh3:" + entry.name), checksum_of(entry.bytes));
  EXPECT_TRUE(has_checksums(file.metadata()));
}

// One bit of each tensor in turn, in files of every precision.
TEST_F(DamagedFile, AFlippedBitIsNamedByItsTensor) {
  for (const RequestedPrecision precision : {RequestedPrecision::fp32, RequestedPrecision::int8}) {
    write_rounded(precision);
    const std::string contents = read_file(path_);
    size_t at = data_begin(), i = 0;
    const auto file = SafetensorsFile::open(path_);
    for (const TensorEntry& entry : file.entries()) {
      const size_t place = at + i++ % entry.bytes.size();
      overwrite(place, static_cast<char>(contents[place] ^ (1 << i % 8)));
      const std::string wanted = path_ + " is damaged: tensor \"" + entry.name + "\" does not match";
      EXPECT_TRUE(error_of_mapping().starts_with(wanted)) << error_of_mapping();
      EXPECT_TRUE(precision != RequestedPrecision::fp32 || error_of_reading() == error_of_mapping());
      overwrite(place, contents[place]);
      at += entry.bytes.size();
    }
    EXPECT_EQ(error_of_mapping(), "");
  }
  remove_checksums(path_);
  const size_t place = data_begin();
  overwrite(place, static_cast<char>(read_file(path_)[place] ^ 1));
  EXPECT_EQ(error_of_mapping(), "") << "of an earlier version";
}

// A flipped bit of the header makes an Error, or a file of the same weights: a space, say.
TEST_F(DamagedFile, AFlippedHeaderBitIsRefusedOrHarmless) {
  for (const bool with_checksums : {true, false}) {
    if (!with_checksums) remove_checksums(path_);
    const std::string header = read_file(path_).substr(0, data_begin());
    constexpr size_t step = is_sanitized ? 11 : 1;
    size_t refused = 0;
    for (size_t at = 0; at < header.size(); at += step) {
      overwrite(at, static_cast<char>(header[at] ^ (1 << at % 8)));
      const std::string error = error_of_mapping();
      EXPECT_EQ(error.find('\n'), error.npos) << error;
      EXPECT_TRUE(!error.empty() || maps_what_was_written()) << at;
      refused += !error.empty();
      overwrite(at, header[at]);
    }
    EXPECT_GT(refused, header.size() / step / 3);
    EXPECT_EQ(error_of_mapping(), "");
  }
}

// Tensors in another order belong to the same checksums; one that has none among others that do is suspect.
TEST_F(DamagedFile, ChecksumsAreByName) {
  const auto file = SafetensorsFile::open(path_);
  std::vector<TensorEntry> entries = file.entries();
  std::ranges::reverse(entries);
  rewrite(path_, file.metadata(), entries);
  EXPECT_EQ(error_of_mapping(), "");

  Metadata metadata = file.metadata();
  metadata.erase("xxh3:" + entries[3].name);
  rewrite(path_, metadata, entries);
  EXPECT_NE(error_of_mapping().find("\"" + entries[3].name + "\" does not match any checksum"),
            std::string::npos)
      << error_of_mapping();

  const auto pair = std::ranges::adjacent_find(entries, {}, &TensorEntry::shape);
  ASSERT_NE(pair, entries.end());
  std::swap(pair->bytes, (pair + 1)->bytes);
  rewrite(path_, file.metadata(), entries);
  EXPECT_NE(error_of_mapping(), "");
}

// In quadratic time it would take minutes.
TEST_F(DamagedFile, AHeaderOfManyTensorsIsReadAtOnce) {
  std::string header = "{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}";
  for (int i = 0; i < 50'000; ++i)
    header += ",\"" + std::to_string(i) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  header += "}";
  const uint64_t size = header.size();
  write_file(path_, {std::string_view(reinterpret_cast<const char*>(&size), sizeof size), header});
  EXPECT_NE(error_of_mapping(), "");
  EXPECT_EQ(SafetensorsFile::open(path_).entries().size(), 50'001U);
}

}  // namespace
}  // namespace dragoman::internal
