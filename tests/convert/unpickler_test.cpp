#include "convert/torch/unpickler.h"

#include <utility>

#include "fixtures.h"

namespace dragoman::internal {
namespace {

using namespace std::string_literals;

const std::string begin = "\x80\x02";

struct Read {
  std::shared_ptr<const std::string> bytes;  // which texts point into
  std::string error;
  Pickle pickle;
  size_t position = 0;
};

Read unpickled(const std::string& bytes) {
  Read result = {.bytes = std::make_shared<const std::string>(bytes)};
  ByteReader reader("x.pt", std::as_bytes(std::span(*result.bytes)));
  result.error = error_of([&] { unpickle(reader, result.pickle); });
  result.position = reader.position();
  return result;
}

TEST(Unpickler, ReadsIntegers) {
  const std::pair<std::string, int64_t> cases[] = {{"K\xff", 255},
                                                   {"M\xff\xff", 65535},
                                                   {"J\xff\xff\xff\xff", -1},
                                                   {"\x8a\0"s, 0},
                                                   {"\x8a\1\xff", -1},
                                                   {"\x8a\2\xff\0"s, 255},
                                                   {"\x8a\x08\0\0\0\0\0\0\0\x80"s, INT64_MIN},
                                                   {"\x8b\2\0\0\0\0\1"s, 256}};
  for (const auto& [bytes, value] : cases)
    EXPECT_EQ(unpickled(begin + bytes + ".").pickle.root->integer(), value);
  const Read large = unpickled(begin + "\x8a\x09" + "123456789.");
  EXPECT_EQ(large.pickle.root->as<PickleBytes>()->bytes, "123456789");
}

TEST(Unpickler, ReadsOnePickleOfSeveral) {
  const Read first = unpickled(begin + "K\1." + begin + "K\2.");
  EXPECT_EQ(first.pickle.root->integer(), 1);
  EXPECT_EQ(first.position, 5U);
}

TEST(Unpickler, TheLastValueOfAKeyCounts) {
  const Read dict = unpickled(begin + "}(U\1aK\1U\1aK\2u.");
  EXPECT_EQ(dict.pickle.root->find("a")->integer(), 2);
}

TEST(Unpickler, ValuesMayContainThemselves) {
  const Read list = unpickled(begin + "]q\0h\0a."s);
  EXPECT_EQ(list.pickle.root->items()[0], list.pickle.root);
}

TEST(Unpickler, NestingCostsNoStack) {
  const int deep = 1'000'000;
  std::string bytes = begin;
  for (int i = 0; i < deep; ++i) bytes += ']';
  for (int i = 0; i < deep - 1; ++i) bytes += 'a';
  EXPECT_EQ(unpickled(bytes + ".").pickle.root->items().size(), 1U);
}

TEST(Unpickler, CallsAreData) {
  const Read call = unpickled(begin + "cos\nsystem\nU\5rm -r\x85R.");
  const PickleObject* const object = call.pickle.root->object();
  ASSERT_NE(object, nullptr);
  EXPECT_TRUE(object->is("os", "system"));
  EXPECT_EQ(object->arguments[0]->text(), "rm -r");
}

TEST(Unpickler, WhatMakesNoSenseIsRefused) {
  const std::string cases[] = {"",        ".",  "]",     "K\1a.",        "]a.",      "]u.",     "]K\1K\1s.",
                               "}(K\1u.", "t.", "h\0."s, "K\1\x85K\1R.", "K\1K\1R.", "(",       "(.",
                               "]K\1b.",  "0.", "1.",    "K\1K\1\x93.",  "q\0."s,    "N(\x87.", "\xff."};
  for (const std::string& bytes : cases)
    EXPECT_NE(unpickled(begin + bytes).error, "") << testing::PrintToString(bytes);
}

TEST(Unpickler, OtherProtocolsAreRefused) {
  EXPECT_NE(unpickled("K\1.").error, "");
  EXPECT_NE(unpickled("\x80\1K\1.").error, "");
  EXPECT_NE(unpickled("\x80\6K\1.").error, "");
  EXPECT_EQ(unpickled("\x80\5K\1.").error, "");
}

TEST(Unpickler, LengthsAreCheckedBeforeTheyAreUsed) {
  for (const std::string& length : {"\x8d\0\0\0\0\0\0\0\x80"s, "\x8e\xff\xff\xff\xff\xff\xff\xff\xff"s,
                                    "X\xff\xff\xff\xff"s, "\x8b\xff\xff\xff\x7f"s, "U\xff"s, "cos\n"s})
    EXPECT_NE(unpickled(begin + length + "short.").error, "") << testing::PrintToString(length);
}

TEST(Unpickler, InstructionsAreLimited) {
  const std::string error = unpickled(begin + std::string(9'000'000, ')') + ".").error;
  EXPECT_NE(error.find("limit"), std::string::npos) << error;
}

}  // namespace
}  // namespace dragoman::internal
