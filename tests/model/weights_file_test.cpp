// Weights with low-rank updates, in one file or as an update of another model's.
#include "model/weights_file.h"

#include <filesystem>

#include "base/error.h"
#include "model/folder.h"
#include "model/small_models.h"
#include "model/weights.h"
#include "nn/low_rank.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

constexpr int64_t rank = 2;

// A base, and an update of it that changes all weights by A·B and one bias.
class Updates : public testing::Test {
 protected:
  Updates() {
    fs::create_directories(folder.path("models/base"));
    fs::create_directories(folder.path("models/mine"));
    write_weights(weights_path(base), small.model.parameters, small.model.parameters.weights());
    for (const Parameter& parameter : small.model.parameters.list()) {
      if (parameter.role != Role::weight) continue;
      add(low_rank_in(parameter.name), parameter.value.rows(), rank);
      add(low_rank_out(parameter.name), rank, parameter.value.columns());
    }
    add(bias, 1, small.model.parameters.list()[index_of(bias)].value.columns());
    write();
  }

  size_t index_of(const std::string& name) const {
    const auto& list = small.model.parameters.list();
    return static_cast<size_t>(std::ranges::find(list, name, &Parameter::name) - list.begin());
  }
  void add(const std::string& name, int64_t rows, int64_t columns) {
    tensors.push_back(random_floats(rows * columns, tensors.size() + 1));
    entries.push_back({.name = name,
                       .dtype = Dtype::f32,
                       .shape = rows == 1 ? std::vector{columns} : std::vector{rows, columns},
                       .bytes = std::as_bytes(std::span(tensors.back()))});
  }
  void write() { write_safetensors(weights_path(mine), update_metadata(mine, base), entries); }
  const std::vector<float>& tensor(const std::string& name) const {
    return tensors[static_cast<size_t>(std::ranges::find(entries, name, &TensorEntry::name) -
                                       entries.begin())];
  }

  // The model's weights, with the update added in the order of a product's chain.
  std::vector<float> sums() const {
    const auto own = small.model.parameters.weights();
    std::vector<float> all(own.begin(), own.end());
    for (const Parameter& parameter : small.model.parameters.list()) {
      float* const w = all.data() + parameter.offset;
      if (parameter.name == bias) std::ranges::copy(tensor(bias), w);
      if (parameter.role != Role::weight) continue;
      const std::vector<float>&a = tensor(low_rank_in(parameter.name)),
            &b = tensor(low_rank_out(parameter.name));
      const auto rows = static_cast<size_t>(parameter.value.rows()),
                 columns = static_cast<size_t>(parameter.value.columns());
      for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j)
          for (size_t k = 0; k < rank; ++k) w[i * columns + j] += a[i * rank + k] * b[k * columns + j];
    }
    return all;
  }

  std::vector<float> read(const std::string& path) const {
    Device device(kernels_for(nullptr), 1);
    Transformer model(small.model.config, device, Buffers::none_yet);
    read_weights(path, model.parameters);
    const auto weights = model.parameters.weights();
    return {weights.begin(), weights.end()};
  }
  std::string error_of(const std::string& path) const {
    try {
      read(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  const TemporaryFolder folder;
  const std::string base = folder.path("models/base"), mine = folder.path("models/mine");
  SmallModel small{small_configs()[0].config, kernels_for(nullptr), 1};
  const std::string bias = "encoder.layers.0.feed_forward.inner.bias";
  std::vector<std::vector<float>> tensors;
  std::vector<TensorEntry> entries;
};

TEST_F(Updates, AreAddedToTheirBase) {
  const std::vector<float> wanted = sums(), found = read(weights_path(mine));
  ASSERT_EQ(wanted.size(), found.size());
  for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(wanted[i], found[i], 1e-6) << i;
  EXPECT_NE(read(weights_path(base)), found);
  EXPECT_LT(fs::file_size(weights_path(mine)), fs::file_size(weights_path(base)));
}

TEST_F(Updates, GiveDecodingTheBitsOfTheWholeModelInEveryPrecision) {
  fs::create_directories(folder.path("whole"));
  Device device(kernels_for(nullptr), 2);
  Transformer whole(small.model.config, device, Buffers::none_yet);
  read_weights(weights_path(mine), whole.parameters);
  write_weights(weights_path(folder.path("whole")), whole.parameters, whole.parameters.weights());
  for (const RequestedPrecision precision :
       {RequestedPrecision::fp32, RequestedPrecision::bf16, RequestedPrecision::int8}) {
    const auto logits_of = [&](const std::string& path) {
      Device own(kernels_for(nullptr), 2);
      Transformer model(small.model.config, own, Buffers::none_yet);
      map_weights(own, path, model.parameters, precision);
      Pass pass{own};
      const Tokens source = pack(own, {{5, 9, 2, 11}}, {0}), target = pack(own, {{1, 7, 3}}, {0});
      const EncodedSource memory = {.encoded = encode(pass, model, source), .spans = &source.spans};
      return rows_of(next_word_logits(pass, model, decode(pass, model, target, memory)), {0, 3});
    };
    EXPECT_TRUE(same_bits(logits_of(weights_path(mine)), logits_of(weights_path(folder.path("whole")))));
  }
}

// As a run of low rank begins and goes on.
TEST_F(Updates, AreReadApartWhereTheParametersHaveTheirOwn) {
  Device device(kernels_for(nullptr), 1);
  Transformer model(small.model.config, device, Buffers::none_yet);
  declare_low_rank_updates(model.parameters, rank);
  read_weights(weights_path(mine), model.parameters);
  const auto& list = model.parameters.list();
  const auto values = [&](const std::string& name) {
    const HostView<const float> view = std::ranges::find(list, name, &Parameter::name)->value.values();
    return std::vector<float>(view.begin(), view.end());
  };
  const std::string weight = "encoder.layers.0.feed_forward.inner.weight";
  const HostView<const float> own = small.model.parameters.list()[index_of(weight)].value.values();
  EXPECT_TRUE(same_bits(own.span(), values(weight)));
  EXPECT_TRUE(same_bits(tensor(low_rank_in(weight)), values(low_rank_in(weight))));
  EXPECT_TRUE(same_bits(tensor(bias), values(bias)));
}

TEST_F(Updates, MoveWithTheirBase) {
  const std::vector<float> wanted = read(weights_path(mine));
  fs::rename(folder.path("models"), folder.path("moved"));
  EXPECT_TRUE(same_bits(wanted, read(weights_path(folder.path("moved/mine")))));
}

TEST_F(Updates, AreOfTheBaseThatTheyWereMadeFor) {
  small.model.parameters.weights()[0] += 1;
  write_weights(weights_path(base), small.model.parameters, small.model.parameters.weights());
  EXPECT_NE(error_of(weights_path(mine)).find("has changed since"), std::string::npos)
      << error_of(weights_path(mine));
  fs::remove_all(base);
  EXPECT_NE(error_of(weights_path(mine)).find("which is not there"), std::string::npos)
      << error_of(weights_path(mine));
}

TEST_F(Updates, OfUpdatesAreRefused) {
  const std::string other = folder.path("models/other");
  fs::create_directories(other);
  write_safetensors(weights_path(other), update_metadata(other, mine), entries);
  EXPECT_NE(error_of(weights_path(other)).find("which is an update itself"), std::string::npos)
      << error_of(weights_path(other));
}

TEST_F(Updates, ThatDoNotFitAreRefused) {
  add("encoder.layers.7.feed_forward.inner.weight.low_rank_in", 3, rank);
  write();
  EXPECT_NE(error_of(weights_path(mine)).find("a tensor \"encoder.layers.7"), std::string::npos)
      << error_of(weights_path(mine));
  entries.pop_back();
  entries[0].shape = {entries[0].shape[1], entries[0].shape[0]};
  write();
  EXPECT_NE(error_of(weights_path(mine)).find(entries[0].name), std::string::npos)
      << error_of(weights_path(mine));
  entries.erase(entries.begin());
  write();
  EXPECT_NE(error_of(weights_path(mine)).find("low_rank_in"), std::string::npos)
      << error_of(weights_path(mine));
}

}  // namespace
}  // namespace dragoman::internal
