#include "convert/files/safetensors.h"
#include "fixtures.h"
#include "model/safetensors.h"

namespace dragoman::internal {
namespace {

TEST(ForeignSafetensors, HasTheTensorsThatWereSaved) {
  expect_golden(read_foreign_safetensors(fixtures / "state_dict.safetensors"));
}

TEST(ForeignSafetensors, DamageIsRefused) {
  const std::string whole = contents(fixtures / "state_dict.safetensors");
  expect_no_part_of(whole, read_foreign_safetensors);
  expect_an_end_for_flipped_bits(whole, read_foreign_safetensors);
}

TEST(ForeignSafetensors, TypesThatNothingConvertsAreNamed) {
  const TemporaryFolder folder;
  const std::byte data[2] = {};
  write_safetensors(folder.path("model"), {},
                    std::vector<TensorEntry>{{"packed", Dtype::f8_e4m3, {2}, data}});
  const std::string error = error_of([&] { read_foreign_safetensors(folder.path("model")); });
  EXPECT_NE(error.find("F8_E4M3"), std::string::npos) << error;
}

}  // namespace
}  // namespace dragoman::internal
