#include "text/tokenizer_field.h"

#include "base/error.h"
#include "text/protobuf.h"

namespace dragoman::internal {
namespace {

constexpr uint64_t tokenizer_field = 1000;  // SentencePiece leaves 200 and above to others
constexpr std::string_view simple = "simple";

}  // namespace

std::string with_tokenizer(std::string model, WordTokenizer tokenizer) {
  if (tokenizer == WordTokenizer::none) return model;
  return model + protobuf_field(tokenizer_field, simple);
}

WordTokenizer tokenizer_of(std::string_view model, const std::string& name) {
  WordTokenizer tokenizer = WordTokenizer::none;
  ProtobufMessage message(model);
  for (ProtobufField field; message.next(field);) {
    if (field.number != tokenizer_field) continue;
    if (field.bytes != simple)
      throw Error("{} needs a tokenizer that this version lacks: update dragoman", name);
    tokenizer = WordTokenizer::simple;
  }
  return tokenizer;
}

}  // namespace dragoman::internal
