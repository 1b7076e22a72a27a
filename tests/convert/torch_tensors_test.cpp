#include "convert/torch/tensors.h"
#include "convert/torch/unpickler.h"
#include "fixtures.h"

namespace dragoman::internal {
namespace {

using namespace std::string_literals;

// --- pickles by hand ---

std::string pickled_text(const std::string& characters) {
  return "X" + little(static_cast<uint32_t>(characters.size())) + characters;
}
std::string number(int64_t value) { return "\x8a\x08" + little(value); }
std::string tuple(const std::string& items) { return "(" + items + "t"; }
std::string numbers(const std::vector<int64_t>& values) {
  std::string items;
  for (const int64_t value : values) items += number(value);
  return tuple(items);
}
std::string dict(const std::string& keys_and_values) { return "}(" + keys_and_values + "u"; }

struct MadeTensor {
  std::vector<int64_t> shape = {4}, strides = {1};
  int64_t offset = 0, count = 4;
  std::string storage = "torch\nFloatStorage", function = "torch._utils\n_rebuild_tensor_v2";
  std::string view;
};

std::string tensor(const MadeTensor& made) {
  const std::string storage = tuple(pickled_text("storage") + "c" + made.storage + "\n" + pickled_text("0") +
                                    pickled_text("cpu") + number(made.count) + made.view);
  return "c" + made.function + "\n" +
         tuple(storage + "Q" + number(made.offset) + numbers(made.shape) + numbers(made.strides) + "\x89") +
         "R";
}

// Every storage has the four floats 0, 1, 2 and 3.
std::map<std::string, std::vector<float>> collected(const std::string& root) {
  static const std::vector<float> data = {0, 1, 2, 3};
  const std::string bytes = "\x80\x02" + root + ".";
  ByteReader reader("x.pt", std::as_bytes(std::span(bytes)));
  Pickle pickle;
  unpickle(reader, pickle);
  const ForeignTensors tensors = collect_tensors("x.pt", *pickle.root, [](const TorchStorage&) {
    return SharedBytes{std::as_bytes(std::span(data)), nullptr};
  });
  std::map<std::string, std::vector<float>> values;
  for (const auto& [name, each] : tensors) values[name] = to_floats(each);
  return values;
}

std::vector<float> elements(const MadeTensor& made) {
  return collected(dict(pickled_text("w") + tensor(made)))["w"];
}
std::string tensor_refusal(const MadeTensor& made) {
  return error_of([&] { elements(made); });
}

constexpr int64_t max_number = std::numeric_limits<int64_t>::max();

TEST(TorchTensors, AreWhereTheirStridesSay) {
  EXPECT_EQ(elements({}), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(elements({.shape = {2}, .strides = {2}, .offset = 1}), (std::vector<float>{1, 3}));
  EXPECT_EQ(elements({.shape = {2, 2}, .strides = {1, 2}}), (std::vector<float>{0, 2, 1, 3}));
  EXPECT_EQ(elements({.shape = {}, .strides = {}, .offset = 3}), std::vector<float>{3});
  EXPECT_EQ(elements({.shape = {0}, .offset = 4}), std::vector<float>{});
}

TEST(TorchTensors, ThatReachBeyondTheirStorageAreRefused) {
  const MadeTensor cases[] = {{.shape = {5}},
                              {.offset = 1},
                              {.offset = -1},
                              {.offset = max_number},
                              {.strides = {2}},
                              {.strides = {-1}},
                              {.strides = {max_number}},
                              {.shape = {-4}},
                              {.shape = {max_number}},
                              {.shape = {max_number, max_number}, .strides = {max_number, 1}},
                              {.shape = {2, 2}, .strides = {1}},
                              {.count = 3},
                              {.shape = {5}, .count = 5},
                              {.count = -1},
                              {.count = max_number},
                              {.storage = "torch\nDoubleStorage"}};
  for (const MadeTensor& made : cases)
    EXPECT_NE(tensor_refusal(made).find("beyond its data"), std::string::npos) << &made - cases;
}

TEST(TorchTensors, OldFilesHaveViewsOfStorages) {
  const std::string view = tuple(pickled_text("1") + number(1) + number(3));
  EXPECT_EQ(elements({.shape = {2}, .offset = 1, .view = view}), (std::vector<float>{2, 3}));
  EXPECT_EQ(elements({.view = "N"}), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_NE(tensor_refusal({.shape = {3}, .offset = 1, .view = view}), "");
  EXPECT_NE(tensor_refusal({.shape = {1}, .view = tuple(pickled_text("1") + number(-1) + number(3))}), "");
  EXPECT_NE(tensor_refusal({.shape = {1}, .view = tuple(pickled_text("1"))}), "");
}

TEST(TorchTensors, WhatIsNotSupportedIsNamed) {
  EXPECT_NE(tensor_refusal({.storage = "torch\nComplexFloatStorage"}).find("torch.ComplexFloatStorage"),
            std::string::npos);
  EXPECT_NE(tensor_refusal({.storage = "other\nFloatStorage"}).find("other.FloatStorage"), std::string::npos);
  EXPECT_NE(tensor_refusal({.function = "torch._utils\n_rebuild_qtensor"}).find("_rebuild_qtensor"),
            std::string::npos);
  EXPECT_NE(tensor_refusal({.function = "torch._tensor\n_rebuild_from_type_v2"}).find("_from_type_v2"),
            std::string::npos);
}

TEST(TorchTensors, WhatMakesNoSenseIsRefused) {
  const std::string call = "ctorch._utils\n_rebuild_tensor_v2\n";
  for (const std::string& arguments :
       {tuple(""), tuple("NNNN"), tuple(number(0) + number(0) + numbers({1}) + numbers({1})),
        tuple("NQ" + number(0) + numbers({1}) + numbers({1})),
        tuple(tuple("") + "Q" + number(0) + numbers({1}) + numbers({1}))})
    EXPECT_NE(error_of([&] { collected(dict(pickled_text("w") + call + arguments + "R")); }), "");
  EXPECT_NE(tensor_refusal({.shape = std::vector<int64_t>(65, 1), .strides = std::vector<int64_t>(65, 1)}),
            "");
}

TEST(TorchTensors, KeysThatAreNumbersArePartOfTheName) {
  const std::string inner = dict(number(7) + tensor({}) + "N" + tensor({}));
  const auto tensors = collected(dict(pickled_text("a") + inner));
  EXPECT_EQ(tensors.size(), 1U);
  EXPECT_TRUE(tensors.contains("a.7"));
}

TEST(TorchTensors, DictsThatContainThemselvesAreRefused) {
  EXPECT_NE(error_of([] { collected("}q\0"s + pickled_text("again") + "h\0s"s); }), "");
}

// Each dict has the one before it twice: 2^40 ways to a tensor.
TEST(TorchTensors, DictsThatAreSharedHaveALimit) {
  std::string root = dict(pickled_text("w") + tensor({}));
  for (int i = 0; i < 40; ++i) root += "q\0}("s + pickled_text("a") + "h\0"s + pickled_text("b") + "h\0u"s;
  EXPECT_NE(error_of([&] { collected(root); }), "");
}

TEST(TorchTensors, NamesHaveALimit) {
  EXPECT_NE(error_of([] { collected(dict(pickled_text(std::string(1001, 'x')) + tensor({}))); }), "");
}

}  // namespace
}  // namespace dragoman::internal
