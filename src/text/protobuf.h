// The fields of a protobuf message, read one after the other or written, without a schema. SentencePiece models are
// such messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace dragoman::internal {

// What is wrong, without the file's name.
class ProtobufDamage : public Error {
 public:
  using Error::Error;
};

struct ProtobufField {
  uint64_t number = 0;
  enum class Type { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 } type = Type::varint;
  uint64_t value = 0;           // of a varint
  std::string_view bytes = {};  // of all others
};

class ProtobufMessage {
 public:
  explicit ProtobufMessage(std::string_view bytes) : rest_(bytes) {}

  bool next(ProtobufField& field);

 private:
  uint64_t varint();
  std::string_view take(uint64_t count);

  std::string_view rest_;
};

// A field's bytes: a message is its fields, joined.
std::string protobuf_field(uint64_t number, uint64_t value);
std::string protobuf_field(uint64_t number, std::string_view bytes);
// Of a value of four or eight bytes.
std::string protobuf_fixed_field(uint64_t number, std::string_view bytes);

// A piece among the fields of a SentencePiece model.
std::string spm_piece(std::string_view text, uint64_t type);

}  // namespace dragoman::internal
