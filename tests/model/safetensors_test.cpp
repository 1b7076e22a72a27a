#include "model/safetensors.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {
namespace {

// A file for each test, removed at its end.
class Safetensors : public testing::Test {
 protected:
  ~Safetensors() override { std::filesystem::remove_all(path_); }

  void write_bytes(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string read_bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // A file with this header, padded or not, and `data` bytes of data.
  void write_header(const std::string& header, size_t data) {
    write_header_size(header.size(), header + std::string(data, '\1'));
  }
  void write_header_size(uint64_t size, const std::string& rest) {
    write_bytes(std::string(reinterpret_cast<const char*>(&size), sizeof size) + rest);
  }
  std::string error() const {
    try {
      SafetensorsFile::open(path_);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  size_t data_begin() const {
    const auto size = std::filesystem::file_size(path_);
    return size - (sizeof weights_ + sizeof ids_ + sizeof byte_);
  }
  // In place: rewriting whole files by the thousand would wait for the disk.
  void overwrite(size_t at, char c) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at)).put(c);
  }
  // Damages a byte and reads all that can still be read.
  void open_with(size_t at, char c) {
    overwrite(at, c);
    try {
      touched_ += touch_all(SafetensorsFile::open(path_));
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    }
  }
  // The whole of a reader's life: every tensor is read to its last byte.
  static uint64_t touch_all(const SafetensorsFile& file) {
    uint64_t sum = 0;
    for (const TensorEntry& entry : file.entries()) {
      for (const std::byte b : entry.bytes) sum += static_cast<uint64_t>(b);
    }
    return sum;
  }

  void write_small_file() {
    std::iota(weights_.begin(), weights_.end(), 0.5F);
    write_safetensors(
        path_, {{"format", "1"}},
        std::vector<TensorEntry>{{"linear.weight", Dtype::f32, {2, 3}, std::as_bytes(std::span(weights_))},
                                 {"ids", Dtype::i32, {3}, std::as_bytes(std::span(ids_))},
                                 {"nothing", Dtype::bf16, {0, 5}, {}},
                                 {"byte", Dtype::u8, {}, std::as_bytes(std::span(byte_))}});
  }

  const std::string path_ = testing::TempDir() + "model.safetensors";
  uint64_t touched_ = 0;
  std::array<float, 6> weights_ = {};
  std::array<int32_t, 3> ids_ = {-1, 0, 1 << 30};
  std::array<uint8_t, 1> byte_ = {200};
};

TEST_F(Safetensors, RoundTrip) {
  write_small_file();
  const SafetensorsFile file = SafetensorsFile::open(path_);
  EXPECT_EQ(file.metadata("format"), "1");
  EXPECT_EQ(file.entries().size(), 4U);
  EXPECT_EQ(file.entries()[0].name, "linear.weight");
  const auto weights = file.floats("linear.weight", 2, 3);
  EXPECT_EQ(std::vector(weights.begin(), weights.end()), (std::vector<float>{0.5, 1.5, 2.5, 3.5, 4.5, 5.5}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.data()) % 64, 0U);
  const auto ids = file.integers("ids");
  EXPECT_EQ(std::vector(ids.begin(), ids.end()), (std::vector<int32_t>{-1, 0, 1 << 30}));
  EXPECT_EQ(file.find("nothing").shape, (std::vector<int64_t>{0, 5}));
  EXPECT_EQ(file.find("byte").bytes[0], std::byte{200});
  EXPECT_FALSE(std::filesystem::exists(path_ + ".dragoman-new"));
}

TEST_F(Safetensors, NoTensors) {
  write_safetensors(path_, {}, {});
  EXPECT_TRUE(SafetensorsFile::open(path_).entries().empty());
}

TEST_F(Safetensors, ReplacesWhatWasThereAndLeavesItOpen) {
  write_small_file();
  const SafetensorsFile old = SafetensorsFile::open(path_);
  write_safetensors(path_, {}, {});
  EXPECT_TRUE(SafetensorsFile::open(path_).entries().empty());
  EXPECT_EQ(old.floats("linear.weight", 2, 3)[5], 5.5F);
}

TEST_F(Safetensors, WhatIsWantedMustBeThere) {
  write_small_file();
  const SafetensorsFile file = SafetensorsFile::open(path_);
  EXPECT_THROW(file.find("linear.weigh"), Error);
  EXPECT_THROW(file.metadata("config"), Error);
  EXPECT_THROW(file.floats("linear.weight", 3, 2), Error);
  EXPECT_THROW(file.floats("linear.weight", 1, 6), Error);
  EXPECT_THROW(file.floats("ids", 1, 3), Error);
  EXPECT_THROW(file.integers("linear.weight"), Error);
  EXPECT_THROW(file.integers("byte"), Error);
}

TEST_F(Safetensors, AVectorIsAMatrixOfOneRow) {
  const std::array<float, 3> values = {1, 2, 3};
  write_safetensors(path_, {},
                    std::vector<TensorEntry>{{"v", Dtype::f32, {3}, std::as_bytes(std::span(values))}});
  const SafetensorsFile file = SafetensorsFile::open(path_);
  EXPECT_EQ(file.floats("v", 1, 3)[2], 3);
  EXPECT_THROW(file.floats("v", 3, 1), Error);
}

TEST_F(Safetensors, StreamedBlocksMakeTheSameFile) {
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const auto bytes = std::as_bytes(std::span(values));
  write_safetensors(path_, {{"key", "text"}}, std::vector<TensorEntry>{{"m", Dtype::f32, {3, 2}, bytes}});
  const std::string whole = read_file(path_);
  stream_safetensors(path_, {{"key", "text"}},
                     std::vector<TensorStream>{{"m", Dtype::f32, {3, 2}, [&](const auto& take) {
                                                  for (size_t row = 0; row < 3; ++row)
                                                    take(bytes.subspan(row * 8, 8));
                                                }}});
  EXPECT_EQ(read_file(path_), whole);
  EXPECT_NO_THROW(SafetensorsFile::open(path_).verify());
}

TEST_F(Safetensors, TheWriterChecksItsCaller) {
  const std::array<float, 3> values = {1, 2, 3};
  const TensorEntry good{"v", Dtype::f32, {3}, std::as_bytes(std::span(values))};
  const TensorEntry wrong{"w", Dtype::f32, {4}, good.bytes};
  EXPECT_THROW(write_safetensors(path_, {}, std::vector{wrong}), BrokenInvariant);
  EXPECT_THROW(write_safetensors(path_, {}, std::vector{good, good}), BrokenInvariant);
  EXPECT_THROW(write_safetensors("/nowhere/at/all", {}, std::vector{good}), Error);
}

TEST_F(Safetensors, CutAnywhereIsAnError) {
  write_small_file();
  const size_t whole = read_bytes().size();
  for (size_t size = whole; size-- > 0;) {
    std::filesystem::resize_file(path_, size);
    EXPECT_THROW(SafetensorsFile::open(path_), Error) << size << " of " << whole << " bytes";
  }
  write_small_file();
  std::filesystem::resize_file(path_, whole + 1);
  EXPECT_THROW(SafetensorsFile::open(path_), Error) << "a byte too many";
}

// Any bit of the header: an Error, or a file that is still whole (a letter of a name, a space).
TEST_F(Safetensors, FlippedHeaderBitsNeverCrash) {
  write_small_file();
  const std::string header = read_bytes().substr(0, data_begin());
  for (size_t at = 0; at < header.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) open_with(at, static_cast<char>(header[at] ^ (1 << bit)));
    overwrite(at, header[at]);
  }
}

// Every byte of the header in turn replaced by the ones that mean something in JSON.
TEST_F(Safetensors, ReplacedHeaderBytesNeverCrash) {
  write_small_file();
  const std::string header = read_bytes().substr(0, data_begin());
  for (size_t at = 8; at < header.size(); ++at) {
    for (const char c : std::string_view("{}[],:\"\\0-.e\xff")) open_with(at, c);
    overwrite(at, header[at]);
  }
}

TEST_F(Safetensors, NotAFile) {
  EXPECT_NE(error().find("cannot open"), std::string::npos) << error();
  std::filesystem::create_directory(path_);
  EXPECT_NE(error().find("is not a regular file"), std::string::npos) << error();
}

TEST_F(Safetensors, AFileTooShortForItsHeadersSize) {
  for (size_t size = 0; size < 8; ++size) {
    write_bytes(std::string(size, '\0'));
    EXPECT_NE(error().find("at least 8 bytes"), std::string::npos) << error();
  }
}

TEST_F(Safetensors, AHeaderLargerThanTheFile) {
  for (const uint64_t size : {uint64_t{57}, uint64_t{1} << 62, ~uint64_t{0}, ~uint64_t{0} - 7}) {
    write_header_size(size, "{}" + std::string(54, ' '));
    EXPECT_NE(error().find("truncated"), std::string::npos) << error();
  }
}

TEST_F(Safetensors, AHeaderAboveTheLimit) {
  write_header_size(100'000'001, "{}");
  std::filesystem::resize_file(path_, 200'000'000);  // a hole: it takes no place on the disk
  EXPECT_NE(error().find("above the limit"), std::string::npos) << error();
}

struct BadHeader {
  const char* name;
  std::string header;
  size_t data;
  const char* message;
};
void PrintTo(const BadHeader& bad, std::ostream* out) { *out << bad.name; }

class BadSafetensors : public Safetensors, public testing::WithParamInterface<BadHeader> {};

TEST_P(BadSafetensors, IsRefused) {
  write_header(GetParam().header, GetParam().data);
  EXPECT_NE(error().find(GetParam().message), std::string::npos) << error();
  EXPECT_NE(error().find(path_), std::string::npos) << error();
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" +
         offsets + "]}";
}
std::string header(const std::string& inside) { return "{" + inside + "}"; }

INSTANTIATE_TEST_SUITE_P(
    Header, BadSafetensors,
    testing::Values(
        BadHeader{"Empty", "", 0, "does not begin"}, BadHeader{"Space", " {}", 0, "does not begin"},
        BadHeader{"List", "[]", 0, "does not begin"}, BadHeader{"Unfinished", "{", 0, "not valid JSON"},
        BadHeader{"TwoValues", "{}{}", 0, "not valid JSON"},
        BadHeader{"Zero", std::string("{}\0", 3), 0, "zero byte"},
        BadHeader{"Utf8", "{\"\xff\":{}}", 0, "not valid JSON"},
        BadHeader{"TensorIsNumber", R"({"a":1})", 0, "not an object"},
        BadHeader{"NoDtype", R"({"a":{"shape":[],"data_offsets":[0,1]}})", 1, "no dtype"},
        BadHeader{"NoShape", R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1, "no shape"},
        BadHeader{"NoOffsets", R"({"a":{"dtype":"U8","shape":[]}})", 1, "no data_offsets"},
        BadHeader{"UnknownDtype", header(tensor("a", "F31", "1", "0,4")), 4, "unknown dtype"},
        BadHeader{"DtypeIsNumber", R"({"a":{"dtype":4,"shape":[],"data_offsets":[0,1]}})", 1, "not a string"},
        BadHeader{"NegativeShape", header(tensor("a", "F32", "-1", "0,4")), 4, "not a size"},
        BadHeader{"FractionalShape", header(tensor("a", "F32", "1.0", "0,4")), 4, "not a size"},
        BadHeader{"TextShape", header(tensor("a", "F32", "\"1\"", "0,4")), 4, "not a size"},
        BadHeader{"HugeShape", header(tensor("a", "F32", "18446744073709551616", "0,4")), 4, "not a size"},
        BadHeader{"AboveInt64", header(tensor("a", "F32", "9223372036854775808", "0,4")), 4, "not a size"},
        BadHeader{"TooLargeNumber", header(tensor("a", "F32", "1e999", "0,4")), 4, "too large"},
        BadHeader{"ProductOverflows", header(tensor("a", "F32", "4611686018427387905", "0,4")), 4,
                  "not the size"},
        BadHeader{"ProductWraps", header(tensor("a", "F32", "4294967296,4294967296", "0,0")), 0,
                  "not the size"},
        BadHeader{"SizeDisagrees", header(tensor("a", "F32", "1", "0,8")), 8, "not the size"},
        BadHeader{"DtypeDisagrees", header(tensor("a", "F16", "2", "0,8")), 8, "not the size"},
        BadHeader{"ManyDimensions", header(tensor("a", "U8", "1,1,1,1,1,1,1,1,1", "0,1")), 1, "more than 8"},
        BadHeader{"ThreeOffsets", header(tensor("a", "F32", "1", "0,4,4")), 4, "data_offsets [0, 4, 4]"},
        BadHeader{"OffsetsBackwards", header(tensor("a", "F32", "1", "4,0")), 4, "data_offsets"},
        BadHeader{"OffsetsBeyond", header(tensor("a", "F32", "1", "4,8")), 4, "data_offsets"},
        BadHeader{"HoleFirst", header(tensor("a", "F32", "1", "4,8")), 8, "hole"},
        BadHeader{"HoleBetween",
                  header(tensor("a", "F32", "1", "0,4") + "," + tensor("b", "F32", "1", "8,12")), 12, "hole"},
        BadHeader{"Overlap", header(tensor("a", "F32", "2", "0,8") + "," + tensor("b", "F32", "1", "4,8")), 8,
                  "overlaps"},
        BadHeader{"SamePlace", header(tensor("a", "F32", "1", "0,4") + "," + tensor("b", "F32", "1", "0,4")),
                  4, "overlaps"},
        BadHeader{"BytesLeft", header(tensor("a", "F32", "1", "0,4")), 5, "belong to no tensor"},
        BadHeader{"TensorTwice",
                  header(tensor("a", "F32", "1", "0,4") + "," + tensor("a", "F32", "1", "4,8")), 8,
                  "\"a\" twice"},
        BadHeader{"KeyTwice", R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
                  "\"dtype\" twice"},
        BadHeader{"MetadataTwice", R"({"__metadata__":{},"__metadata__":{}})", 0, "\"__metadata__\" twice"},
        BadHeader{"MetadataIsText", R"({"__metadata__":"a"})", 0, "not an object"},
        BadHeader{"MetadataHoldsNumber", R"({"__metadata__":{"a":1}})", 0, "not a string"},
        BadHeader{"TooDeep", "{\"a\":{\"b\":{" + std::string(100'000, ' '), 0, "nested object"},
        BadHeader{"NestedLists", "{\"a\":{\"b\":" + std::string(100'000, '['), 0, "wrong place"},
        BadHeader{"NameWithNewline", R"({"a\nb":1})", 0, R"("a\nb")"},
        BadHeader{"LongName", "{\"" + std::string(100'000, 'x') + "\":1}", 0, "x\"..."}),
    [](const auto& test) { return test.param.name; });

// Files of other writers: data that stand anywhere, keys of later versions, tensors in another order.
TEST_F(Safetensors, OtherWritersFiles) {
  write_header(
      R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3],"later":1},"a":{"dtype":"BOOL","shape":[1],)"
      R"("data_offsets":[0,1]}})",
      3);
  const SafetensorsFile file = SafetensorsFile::open(path_);
  EXPECT_EQ(file.entries()[0].name, "a");
  EXPECT_EQ(file.entries()[1].bytes.size(), 2U);
  EXPECT_EQ(touch_all(file), 3U);
}

TEST_F(Safetensors, UnalignedFloatsAreAnErrorNotACrash) {
  std::string text = header(tensor("a", "F32", "1", "0,4"));
  if (text.size() % 4 == 0) text += ' ';
  write_header(text, 4);
  const SafetensorsFile file = SafetensorsFile::open(path_);
  EXPECT_THROW(file.floats("a", 1, 1), Error);
}

}  // namespace
}  // namespace dragoman::internal
