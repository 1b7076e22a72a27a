#include "convert/files/sharded.h"

#include "convert/files/safetensors.h"
#include "convert/torch/file.h"
#include "fixtures.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

TEST(Sharded, ModelsAreReadThroughTheirIndex) {
  const ForeignTensors whole = read_foreign_safetensors(fixtures / "state_dict.safetensors");
  for (const ForeignTensors& shards : {read_foreign_safetensors(fixtures / "model.safetensors.index.json"),
                                       read_torch(fixtures / "pytorch_model.bin.index.json")}) {
    EXPECT_EQ(shards.size(), 4U);
    for (const auto& [name, tensor] : shards) EXPECT_EQ(to_floats(tensor), to_floats(whole.at(name))) << name;
  }
}

std::string refusal_of_index(const std::string& index) {
  const TemporaryFolder folder;
  std::filesystem::copy(fixtures / "model-00001-of-00002.safetensors", folder.path("a.safetensors"));
  const std::string path = folder.write("model.safetensors.index.json", index);
  return error_of([&] { read_foreign_safetensors(path); });
}

TEST(Sharded, WrongIndicesAreRefused) {
  EXPECT_EQ(refusal_of_index(R"({"weight_map": {"shared": "a.safetensors"}})"), "");
  EXPECT_NE(refusal_of_index(R"({"weight_map": {"other": "a.safetensors"}})"), "");
  EXPECT_NE(refusal_of_index(R"({"weight_map": {"shared": "b.safetensors"}})"), "");
  EXPECT_NE(refusal_of_index(R"({"weight_map": {"shared": "../a.safetensors"}})"), "");
  EXPECT_NE(refusal_of_index(R"({"weight_map": {"shared": ""}})"), "");
  EXPECT_NE(refusal_of_index(R"({"weight_map": {"shared": 1}})"), "");
  EXPECT_NE(refusal_of_index(R"({"weight_map": 1})"), "");
  EXPECT_NE(refusal_of_index(R"({"weight_map": {"shared": "model.safetensors.index.json"}})"), "");
  EXPECT_NE(refusal_of_index("[]"), "");
  EXPECT_NE(refusal_of_index("{"), "");
}

}  // namespace
}  // namespace dragoman::internal
