// Replays the fixtures that make_golden.py computed with PyTorch: logits, losses, every gradient, and ten updates
// by Adam with Noam's rates, on each instruction set that this machine has.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/kernels.h"
#include "model/safetensors.h"
#include "model/transformer.h"
#include "testing.h"
#include "train/schedule.h"
#include "train/trainer.h"

namespace dragoman::internal {
namespace {

const std::filesystem::path& fixtures() {
  static const std::filesystem::path folder =
      std::filesystem::path(DRAGOMAN_SOURCE_DIR) / "tests/golden/fixtures";
  return folder;
}

struct Case {
  std::string fixture;
  const Kernels* kernels;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.fixture << " on " << c.kernels->name; }

// Every fixture in the folder on every table of kernels.
std::vector<Case> cases() {
  std::vector<Case> result;
  for (const auto& file : std::filesystem::directory_iterator(fixtures())) {
    if (file.path().extension() != ".safetensors") continue;
    for (const Kernels* kernels : every_table()) result.push_back({file.path().stem().string(), kernels});
  }
  std::ranges::sort(result, {}, [](const Case& c) { return c.fixture + " " + c.kernels->name; });
  return result;
}

class Golden : public testing::TestWithParam<Case> {
 protected:
  Golden()
      : file_(SafetensorsFile::open((fixtures() / (GetParam().fixture + ".safetensors")).string())),
        training_(nlohmann::json::parse(file_.metadata("training"))),
        device_(*GetParam().kernels, 2),
        model_(model_config_from_json(nlohmann::json::parse(file_.metadata("config")), GetParam().fixture),
               device_, Buffers::weights_and_gradients),
        trainer_(model_, update_options()) {
    for (const Parameter& parameter : model_.parameters.list()) {
      std::ranges::copy(stored("parameter/", parameter), parameter.value.writable_values().begin());
    }
    model_.parameters.changed();
    for (uint64_t i = 0; i < file_.integers("source_lengths").size(); ++i) batch_.pairs.push_back(i);
    batch_.source = {integers("source_ids"), integers("source_lengths")};
    batch_.target_input = {integers("target_input"), integers("target_lengths")};
    batch_.targets = integers("target_output");
  }

  UpdateOptions update_options() const {
    const auto over = training_.at("smoothing_over") == "all" ? SmoothingOver::all : SmoothingOver::others;
    return {.adam = {.beta1 = training_.at("beta1"),
                     .beta2 = training_.at("beta2"),
                     .epsilon = training_.at("epsilon")},
            .smoothing = {training_.at("label_smoothing"), over}};
  }

  std::vector<int32_t> integers(const char* name) const {
    const auto values = file_.integers(name);
    return {values.begin(), values.end()};
  }

  std::span<const float> stored(const std::string& kind, const Parameter& parameter) const {
    return file_.floats(kind + parameter.name, parameter.value.rows(), parameter.value.columns());
  }

  SafetensorsFile file_;
  nlohmann::json training_;
  Device device_;
  Transformer model_;
  Trainer trainer_;
  Batch batch_;
};

TEST_P(Golden, ParametersAreTheSame) {
  size_t in_file = 0;
  for (const TensorEntry& entry : file_.entries()) in_file += entry.name.starts_with("parameter/") ? 1 : 0;
  EXPECT_EQ(model_.parameters.list().size(), in_file);
}

TEST_P(Golden, Logits) {
  const Tokens source = pack_tokens(device_, batch_.source.ids, batch_.source.lengths, batch_.pairs);
  const Tokens target =
      pack_tokens(device_, batch_.target_input.ids, batch_.target_input.lengths, batch_.pairs);
  Pass pass = {.device = device_};
  const Tensor logits =
      next_word_logits(pass, model_, decode(pass, model_, target, memory_of(pass, model_, source)));
  const auto wanted = file_.floats("logits", logits.rows(), logits.columns());
  const HostView<const float> got = logits.values();
  const auto columns = static_cast<size_t>(logits.columns());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(got[i], wanted[i], 1e-4 * std::max(1.0F, std::abs(wanted[i])))
        << "token " << i / columns << ", word " << i % columns;
  }
}

TEST_P(Golden, Losses) {
  const LossSums sums = trainer_.evaluate(batch_);
  const auto wanted = file_.floats("loss", 1, 2);
  EXPECT_NEAR(sums.smoothed, wanted[0], 1e-5 * wanted[0]);
  EXPECT_NEAR(sums.unsmoothed, wanted[1], 1e-5 * wanted[1]);
}

TEST_P(Golden, Gradients) {
  trainer_.add_gradients(batch_);
  for (const Parameter& parameter : model_.parameters.list()) {
    if (parameter.constant) continue;
    const auto wanted = stored("gradient/", parameter);
    const HostView<const float> got(device_.memory, {parameter.value.gradient().data, wanted.size()});
    float largest = 0;
    for (const float g : wanted) largest = std::max(largest, std::abs(g));
    // A thousandth of each element; where one is small beside the others, rounding at the others' size.
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_NEAR(got[i], wanted[i], 1e-3 * std::abs(wanted[i]) + 1e-5 * largest)
          << parameter.name << " at " << i << "; the largest is " << largest;
    }
  }
}

TEST_P(Golden, TenAdamUpdates) {
  const auto wanted = file_.floats("adam_losses", 1, 10);
  for (int64_t t = 1; t <= 10; ++t) {
    const double rate = noam_rate(t, model_.config.d_model, training_.at("factor"), training_.at("warmup"));
    const double loss = trainer_.update({&batch_, 1}, rate).per_token();
    EXPECT_NEAR(loss, wanted[static_cast<size_t>(t - 1)], 1e-4 * loss) << "before update " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Replay, Golden, testing::ValuesIn(cases()), [](const auto& test) {
  return test.param.fixture + "_" + name_in_tests(*test.param.kernels);
});

TEST(GoldenFixtures, AreThere) {
  std::set<std::string> distinct;
  for (const Case& c : cases()) distinct.insert(c.fixture);
  EXPECT_GE(distinct.size(), 20U);
}

}  // namespace
}  // namespace dragoman::internal
