#include "convert/ctranslate2/file.h"
#include "fixtures.h"

namespace dragoman::internal {
namespace {

ForeignTensors read_ctranslate2(const std::string& path) { return open_ctranslate2(path).tensors; }

TEST(CTranslate2File, HasWhatItsConverterWrote) {
  const CTranslate2File file = open_ctranslate2(golden / "ctranslate2/int8.bin");
  EXPECT_EQ(file.version, 6U);
  EXPECT_EQ(file.spec, "TransformerSpec");
  EXPECT_EQ(file.revision, 7U);
  expect_golden(file.tensors, golden / "ctranslate2", 2);
}

TEST(CTranslate2File, AliasesShareTheDataAndTheirScales) {
  const ForeignTensors tensors = read_ctranslate2(golden / "ctranslate2/int8.bin");
  for (const std::string suffix : {"weight", "weight_scale"})
    EXPECT_EQ(tensors.at("projection/" + suffix).data.data(), tensors.at("layer/" + suffix).data.data());
}

TEST(CTranslate2File, HasEveryType) {
  const std::vector<float> exact =
      to_floats(read_ctranslate2(golden / "ctranslate2/float32.bin").at("layer/weight"));
  for (const char* const name : {"float16.bin", "bfloat16.bin"}) {
    const std::vector<float> rounded =
        to_floats(read_ctranslate2(golden / "ctranslate2" / name).at("layer/weight"));
    ASSERT_EQ(rounded.size(), exact.size());
    for (size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(rounded[i], exact[i], 0.01) << name << i;
  }
  EXPECT_EQ(read_ctranslate2(golden / "ctranslate2/int16.bin").at("layer/weight").type, ElementType::i16);
}

// --- versions that nothing writes any more ---

std::string sized_text(const std::string& characters) {
  return little(static_cast<uint16_t>(characters.size() + 1)) + characters + '\0';
}

template <class Element>
std::string variable(uint32_t version, const std::string& name, uint8_t type_code,
                     const std::vector<Element>& values) {
  const auto count = static_cast<uint32_t>(values.size());
  std::string bytes = sized_text(name) + '\1' + little(count);
  bytes += version >= 4 ? little(type_code) + little(static_cast<uint32_t>(count * sizeof(Element)))
                        : little(static_cast<uint8_t>(sizeof(Element))) + little(count);
  for (const Element value : values) bytes += little(value);
  return bytes;
}

std::string file_of(uint32_t version) {
  std::string bytes = little(version);
  if (version >= 2) bytes += sized_text("TransformerBase") + little(uint32_t{3});
  bytes += little(uint32_t{3}) + variable<float>(version, "a/weight_scale", 0, {0.5, -2}) +
           variable<int8_t>(version, "a/weight", 1, {-128, 127}) +
           variable<int16_t>(version, "b", 2, {-1, 300});
  if (version >= 3) bytes += little(uint32_t{1}) + sized_text("c/weight") + sized_text("a/weight");
  return bytes;
}

TEST(CTranslate2File, EveryVersionIsRead) {
  const TemporaryFolder folder;
  for (uint32_t version = 1; version <= 6; ++version) {
    SCOPED_TRACE(version);
    const CTranslate2File file = open_ctranslate2(folder.write("model.bin", file_of(version)));
    EXPECT_EQ(file.version, version);
    EXPECT_EQ(file.spec, version == 1 ? "" : "TransformerBase");
    EXPECT_EQ(file.revision, version == 1 ? 1 : 3);
    EXPECT_EQ(file.tensors.size(), version >= 3 ? 5U : 3U);
    EXPECT_EQ(to_floats(file.tensors.at("a/weight_scale")), (std::vector<float>{0.5, -2}));
    EXPECT_EQ(number_at(file.tensors.at("a/weight"), 0), -128);
    EXPECT_EQ(number_at(file.tensors.at("b"), 1), 300);
  }
}

TEST(CTranslate2File, OtherFilesAreRefused) {
  const TemporaryFolder folder;
  for (const std::string& bytes :
       {std::string(), little(0), little(7), std::string("text, not numbers"), file_of(6) + "x"})
    EXPECT_NE(error_of([&] { read_ctranslate2(folder.write("model.bin", bytes)); }), "");
}

TEST(CTranslate2File, DamageIsRefused) {
  for (const std::string& whole : {contents(golden / "ctranslate2/int8.bin"), file_of(1), file_of(3)}) {
    expect_no_part_of(whole, read_ctranslate2);
    expect_an_end_for_flipped_bits(whole, read_ctranslate2);
  }
}

}  // namespace
}  // namespace dragoman::internal
