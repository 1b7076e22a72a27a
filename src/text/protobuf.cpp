#include "text/protobuf.h"

namespace dragoman::internal {
namespace {

using Type = ProtobufField::Type;

std::string varint_of(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}

std::string key_of(uint64_t number, Type type) {
  return varint_of(number << 3 | static_cast<uint64_t>(type));
}

}  // namespace

std::string protobuf_field(uint64_t number, uint64_t value) {
  return key_of(number, Type::varint) + varint_of(value);
}

std::string protobuf_field(uint64_t number, std::string_view bytes) {
  return key_of(number, Type::bytes) + varint_of(bytes.size()) + std::string(bytes);
}

std::string protobuf_fixed_field(uint64_t number, std::string_view bytes) {
  return key_of(number, bytes.size() == 8 ? Type::fixed64 : Type::fixed32) + std::string(bytes);
}

std::string spm_piece(std::string_view text, uint64_t type) {
  return protobuf_field(1, protobuf_field(1, text) + protobuf_field(3, type));
}

bool ProtobufMessage::next(ProtobufField& field) {
  if (rest_.empty()) return false;
  const uint64_t key = varint();
  field = {.number = key >> 3, .type = static_cast<Type>(key & 7)};
  if (field.number == 0) throw ProtobufDamage("it has a field without a number");
  switch (field.type) {
    case Type::varint:
      field.value = varint();
      return true;
    case Type::fixed64:
      field.bytes = take(8);
      return true;
    case Type::bytes:
      field.bytes = take(varint());
      return true;
    case Type::fixed32:
      field.bytes = take(4);
      return true;
  }
  throw ProtobufDamage("it has a field of an unknown type");
}

uint64_t ProtobufMessage::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1)[0]);
    if (shift < 64) value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
  throw ProtobufDamage("it has a number of more than ten bytes");
}

std::string_view ProtobufMessage::take(uint64_t count) {
  if (count > rest_.size()) throw ProtobufDamage("it ends too early");
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

}  // namespace dragoman::internal
