// Damaged SentencePiece models are refused before SentencePiece sees them: nothing crashes, whatever is changed.
#include "text/sentencepiece_check.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "temporary_folder.h"
#include "text/protobuf.h"
#include "text/toy_text.h"
#include "text/vocabulary.h"

namespace dragoman::internal {
namespace {

std::string learnt(PieceKind kind) {
  const TemporaryFolder quiet;
  const std::vector<std::string> lines = toy_text(300).source_lines;
  const auto open = [&]() -> Sentences {
    return [&, next = size_t{0}]() mutable -> std::optional<std::string_view> {
      if (next == lines.size()) return std::nullopt;
      return lines[next++];
    };
  };
  return learn_vocabulary({.kind = kind, .size = 300, .byte_fallback = kind == PieceKind::bpe}, open, "toy")
      .model();
}

std::string refusal(const std::string& model) {
  try {
    check_sentencepiece(model, "toy.spm");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class SentencePieceCheck : public testing::TestWithParam<PieceKind> {
 protected:
  const std::string model_ = learnt(GetParam());
};

TEST_P(SentencePieceCheck, AcceptsWhatIsLearnt) { EXPECT_EQ(refusal(model_), ""); }

// A model that ends between two of its fields may still be one.
TEST_P(SentencePieceCheck, RefusesEveryBeginning) {
  std::set<size_t> ends;
  ProtobufMessage whole(model_);
  for (ProtobufField field; whole.next(field);)
    ends.insert(static_cast<size_t>(field.bytes.data() + field.bytes.size() - model_.data()));
  for (size_t size = 0; size < model_.size(); size += 1 + model_.size() / 300) {
    if (ends.contains(size)) continue;
    const std::string message = refusal(model_.substr(0, size));
    EXPECT_TRUE(message.starts_with("toy.spm is not a SentencePiece model")) << size << message;
  }
}

// What is accepted must be safe: the sanitizers see what is not.
TEST_P(SentencePieceCheck, WhatPassesCanBeUsed) {
  const TemporaryFolder quiet;
  Random random(7);
  int64_t refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string damaged = model_;
    for (uint64_t flips = 1 + random.below(3); flips > 0; --flips)
      damaged[random.below(damaged.size())] ^= static_cast<char>(1 << random.below(8));
    try {
      const Vocabulary vocabulary(damaged, "toy.spm");
      const auto ids = vocabulary.encode("kalo mi é ﬁ Ⅷ ｶﾞ terdo\tx");
      vocabulary.decode(ids);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

INSTANTIATE_TEST_SUITE_P(, SentencePieceCheck,
                         testing::Values(PieceKind::bpe, PieceKind::unigram, PieceKind::words,
                                         PieceKind::characters));

// --- One damage after the other, in a model made by hand ---------------------------------------------

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string bytes_field(uint64_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string piece(const std::string& text, float score, uint64_t type) {
  std::string float_bytes(4, '\0');
  std::memcpy(float_bytes.data(), &score, 4);
  return bytes_field(1,
                     bytes_field(1, text) + varint(2 << 3 | 5) + float_bytes + varint(3 << 3) + varint(type));
}

const std::string start = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3);

// A normaliser that replaces "a" (a state at 256 ^ 'a') by the replacement at `value`.
std::string normaliser(uint32_t size, uint32_t root, uint32_t child, uint32_t value) {
  std::vector<uint32_t> units(512);
  units[0] = root << 10;
  units[256 ^ 'a'] = child << 10 | 1U << 8 | 'a';
  const size_t leaf = 256 ^ 'a' ^ child;
  if (leaf < units.size()) units[leaf] = 1U << 31 | value;
  std::string map(reinterpret_cast<const char*>(&size), 4);
  map.append(reinterpret_cast<const char*>(units.data()), units.size() * 4);
  return bytes_field(3, bytes_field(2, map + std::string("b\0", 2)));
}

TEST(SentencePieceDamage, NamesWhatIsWrong) {
  EXPECT_EQ(refusal(start), "");
  EXPECT_NE(refusal("").find("0 pieces"), std::string::npos);
  EXPECT_NE(refusal(std::string(32, '\0')).find("damaged"), std::string::npos);
  EXPECT_NE(refusal(piece("a", 0, 1)).find("0 of its pieces"), std::string::npos);
  EXPECT_NE(refusal(start + piece("x", 0, 2)).find("2 of its pieces"), std::string::npos);
  EXPECT_NE(refusal(start + piece("", 0, 1)).find("not valid UTF-8"), std::string::npos);
  EXPECT_NE(refusal(start + piece("\xff", 0, 1)).find("not valid UTF-8"), std::string::npos);
  EXPECT_NE(refusal(start + piece("a", std::nanf(""), 1)).find("not finite"), std::string::npos);
  EXPECT_NE(refusal(start + piece("a", std::numeric_limits<float>::infinity(), 1)).find("not finite"),
            std::string::npos);
  EXPECT_NE(refusal(start + piece("a", 0, 9)).find("unknown type"), std::string::npos);
  EXPECT_NE(refusal(start + piece("<0xG1>", 0, 6)).find("name its byte"), std::string::npos);
  EXPECT_EQ(refusal(start + piece("<0xA1>", 0, 6)), "");
  EXPECT_NE(refusal(start + std::string("\x0a\xff\xff\xff\xff\x0f", 6)).find("ends too early"),
            std::string::npos);
  EXPECT_NE(refusal(start + std::string(11, '\xff')).find("ten bytes"), std::string::npos);
}

TEST(SentencePieceDamage, FollowsNormalisationTables) {
  EXPECT_EQ(refusal(start + normaliser(2048, 256, 2, 0)), "");
  EXPECT_NE(refusal(start + normaliser(2048, 512, 2, 0)).find("leads out of"), std::string::npos);
  EXPECT_NE(refusal(start + normaliser(2048, 256, 1024, 0)).find("leads out of"), std::string::npos);
  EXPECT_NE(refusal(start + normaliser(2048, 256, 2, 9)).find("a replacement lies outside"),
            std::string::npos);
  EXPECT_NE(refusal(start + normaliser(2047, 256, 2, 0)).find("whole blocks"), std::string::npos);
  EXPECT_NE(refusal(start + normaliser(4096, 256, 2, 0)).find("ends too early"), std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
