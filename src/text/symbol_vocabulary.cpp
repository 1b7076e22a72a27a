#include "text/symbol_vocabulary.h"

#include <string_view>

#include <fmt/format.h>

namespace dragoman::internal {
namespace {

// --- Fields of a protobuf message, by SentencePiece's numbers ----------------------------------------

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}

std::string number_field(uint64_t field, uint64_t value) { return varint(field << 3) + varint(value); }

std::string bytes_field(uint64_t field, std::string_view bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

std::string piece(std::string_view text, uint64_t type) {
  return bytes_field(1, bytes_field(1, text) + number_field(3, type));
}

}  // namespace

std::string symbol_model(int64_t symbols) {
  constexpr uint64_t normal = 1, unknown = 2, model_of_words = 3;
  std::string model = piece("<unk>", unknown);
  for (int64_t symbol = 1; symbol < symbols; ++symbol) model += piece(fmt::format("▁{}", symbol), normal);
  return model + bytes_field(2, number_field(3, model_of_words)) + bytes_field(3, bytes_field(1, "identity"));
}

}  // namespace dragoman::internal
