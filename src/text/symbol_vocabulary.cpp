#include "text/symbol_vocabulary.h"

#include <fmt/format.h>

#include "text/protobuf.h"

namespace dragoman::internal {

std::string symbol_model(int64_t symbols) {
  constexpr uint64_t normal = 1, unknown = 2, model_of_words = 3;
  std::string model = spm_piece("<unk>", unknown);
  for (int64_t symbol = 1; symbol < symbols; ++symbol) model += spm_piece(fmt::format("▁{}", symbol), normal);
  return model + protobuf_field(2, protobuf_field(3, model_of_words)) +
         protobuf_field(3, protobuf_field(1, "identity"));
}

}  // namespace dragoman::internal
