#include "convert/torch/file.h"
#include "fixtures.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

class TorchFiles : public testing::TestWithParam<const char*> {};

TEST_P(TorchFiles, HaveTheTensorsThatPyTorchSaved) { expect_golden(read_torch(fixtures / GetParam())); }

TEST_P(TorchFiles, CutAnywhereAreRefused) { expect_no_part_of(contents(fixtures / GetParam()), read_torch); }

TEST_P(TorchFiles, WithAnyBitFlippedAreReadOrRefused) {
  expect_an_end_for_flipped_bits(contents(fixtures / GetParam()), read_torch);
}

INSTANTIATE_TEST_SUITE_P(Of, TorchFiles,
                         testing::Values("state_dict.pt", "state_dict.old.pt", "state_dict.deflated.pt"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(TorchFile, TensorsThatShareMemoryAreNotCopied) {
  for (const char* const name : {"state_dict.pt", "state_dict.old.pt", "state_dict.deflated.pt"}) {
    const ForeignTensors tensors = read_torch(fixtures / name);
    EXPECT_EQ(tensors.at("shared").data.data(), tensors.at("tied").data.data()) << name;
    EXPECT_EQ(tensors.at("transposed").strides, (std::vector<int64_t>{1, 4})) << name;
    EXPECT_EQ(tensors.at("rows").data.data(), tensors.at("shared").data.data() + 4 * sizeof(float)) << name;
  }
}

TEST(TorchFile, TensorsOutliveTheFile) {
  ForeignTensor kept = read_torch(fixtures / "state_dict.pt").at("shared");
  EXPECT_EQ(to_floats(kept).size(), 12U);
}

class Checkpoints : public testing::TestWithParam<const char*> {};

TEST_P(Checkpoints, HaveTheTensorsOfNestedDictsUnderDottedNames) {
  const ForeignTensors tensors = read_torch(fixtures / GetParam());
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"generator.0.weight", "model.0.bias", "model.0.weight",
                                             "model.1.bias", "model.1.weight"}));
  EXPECT_EQ(to_floats(tensors.at("model.0.weight")), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(to_floats(tensors.at("model.1.bias")), (std::vector<float>{30, 31, 32}));
}

TEST_P(Checkpoints, HaveOptions) {
  const TorchFile file = open_torch(fixtures / GetParam());
  const PickleValue& options = *file.pickle.root->find("opt");
  EXPECT_EQ(options.described(), "argparse.Namespace");
  EXPECT_EQ(options.find("heads")->integer(), 8);
  EXPECT_EQ(options.find("heads")->real(), 8.0);
  EXPECT_EQ(options.find("layers")->integer(), -6);
  EXPECT_EQ(options.find("steps")->integer(), int64_t{1} << 40);
  EXPECT_EQ(options.find("huge")->integer(), std::nullopt);
  EXPECT_EQ(options.find("dropout")->items()[1]->real(), 0.25);
  EXPECT_EQ(options.find("optim")->text(), "adam");
  EXPECT_EQ(options.find("share")->boolean(), true);
  EXPECT_TRUE(options.find("pool")->as<std::monostate>());
  EXPECT_EQ(options.find("sizes")->items().size(), 4U);
  EXPECT_EQ(options.find("itself"), &options);
  EXPECT_EQ(options.find("missing"), nullptr);
  EXPECT_EQ(file.pickle.root->find("epoch")->integer(), 3);
}

TEST_P(Checkpoints, HaveVocabulariesThatAreListsOrObjects) {
  const TorchFile file = open_torch(fixtures / GetParam());
  const PickleValue& vocabularies = *file.pickle.root->find("vocab");
  ASSERT_EQ(vocabularies.find("src")->items().size(), 4U);
  EXPECT_EQ(vocabularies.find("src")->items()[2]->text(), "café");
  const PickleValue& target = *vocabularies.find("tgt");
  EXPECT_EQ(target.described(), "__main__.Field");
  ASSERT_NE(target.find("itos"), nullptr);
  EXPECT_EQ(target.find("itos")->items()[3]->text(), "日本");
  EXPECT_EQ(target.find("stoi")->find("<blank>")->integer(), 1);
}

INSTANTIATE_TEST_SUITE_P(Of, Checkpoints,
                         testing::Values("checkpoint.pt", "checkpoint.old.pt", "checkpoint.protocol3.pt",
                                         "checkpoint.protocol4.pt", "checkpoint.protocol5.pt"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(TorchFile, WhatItWouldRunIsOnlyNamed) {
  const TorchFile file = open_torch(fixtures / "hostile.pt");
  EXPECT_EQ(to_floats(file.tensors.at("weight")), std::vector<float>{1});
  EXPECT_EQ(file.pickle.root->find("command")->described(), "posix.system");
  EXPECT_FALSE(std::filesystem::exists("hostile-was-run"));
}

TEST(TorchFile, AModuleIsNoStateDict) {
  const std::string error = error_of([] { read_torch(fixtures / "module.pt"); });
  EXPECT_NE(error.find("torch.nn.modules.linear.Linear"), std::string::npos) << error;
  EXPECT_NE(error.find("state_dict()"), std::string::npos) << error;
}

TEST(TorchFile, OtherFilesAreRefused) {
  const TemporaryFolder folder;
  for (const char* const text : {"", "text", "\x80\x02K\x01.", "PK\x03\x04"}) {
    const std::string path = folder.write("other", text);
    const std::string error = error_of([&] { read_torch(path); });
    EXPECT_EQ(error.find(path), 0U) << error;
  }
  EXPECT_NE(error_of([&] { read_torch(folder.path("missing")); }), "");
  EXPECT_NE(error_of([&] { read_torch(folder.path("")); }), "");
}

}  // namespace
}  // namespace dragoman::internal
