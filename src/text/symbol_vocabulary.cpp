#include "text/symbol_vocabulary.h"

#include <string_view>

#include <fmt/format.h>

#include "text/protobuf.h"

namespace dragoman::internal {
namespace {

// Numbers of fields are those of SentencePiece's messages.
std::string piece(std::string_view text, uint64_t type) {
  return protobuf_field(1, protobuf_field(1, text) + protobuf_field(3, type));
}

}  // namespace

std::string symbol_model(int64_t symbols) {
  constexpr uint64_t normal = 1, unknown = 2, model_of_words = 3;
  std::string model = piece("<unk>", unknown);
  for (int64_t symbol = 1; symbol < symbols; ++symbol) model += piece(fmt::format("▁{}", symbol), normal);
  return model + protobuf_field(2, protobuf_field(3, model_of_words)) +
         protobuf_field(3, protobuf_field(1, "identity"));
}

}  // namespace dragoman::internal
