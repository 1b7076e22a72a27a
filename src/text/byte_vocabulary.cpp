#include "text/byte_vocabulary.h"

#include <fmt/format.h>

#include "text/protobuf.h"

namespace dragoman::internal {

std::string byte_model() {
  constexpr uint64_t unknown = 2, control = 3, byte = 6, model_of_characters = 4;
  std::string model = spm_piece("<pad>", control) + spm_piece("</s>", control) + spm_piece("<unk>", unknown);
  for (int b = 0; b < 256; ++b) model += spm_piece(fmt::format("<0x{:02X}>", b), byte);
  const std::string trainer = protobuf_field(3, model_of_characters) + protobuf_field(35, uint64_t{1}) +
                              protobuf_field(40, uint64_t{2}) + protobuf_field(42, uint64_t{1});
  const std::string normalizer = protobuf_field(1, "identity") + protobuf_field(3, uint64_t{0}) +
                                 protobuf_field(4, uint64_t{0}) + protobuf_field(5, uint64_t{0});
  return model + protobuf_field(2, trainer) + protobuf_field(3, normalizer);
}

}  // namespace dragoman::internal
