#include "text/token_table.h"

#include "base/error.h"
#include "base/lines.h"
#include "text/protobuf.h"

namespace dragoman::internal {
namespace {

constexpr uint64_t table_field = 1001;  // SentencePiece leaves 200 and above to others

enum Field : uint64_t { token = 1, unknown, start, end, never };

TokenTable parse(std::string_view bytes, const std::string& name) {
  TokenTable table;
  std::vector<std::pair<int32_t*, uint64_t>> numbers;
  std::vector<uint64_t> forbidden;
  ProtobufMessage message(bytes);
  for (ProtobufField field; message.next(field);) {
    if (field.number == token && field.type == ProtobufField::Type::bytes) {
      if (!is_text(field.bytes)) throw Error("{} is damaged: its token table is not UTF-8", name);
      table.tokens.emplace_back(field.bytes);
    } else if (field.type == ProtobufField::Type::varint && field.number >= unknown &&
               field.number <= never) {
      if (field.number == never) {
        forbidden.push_back(field.value);
      } else {
        int32_t* const places[] = {&table.unknown, &table.start, &table.end};
        numbers.emplace_back(places[field.number - unknown], field.value);
      }
    } else {
      throw Error("{} has a token table that this version cannot read: update dragoman", name);
    }
  }
  const auto checked = [&](uint64_t id) {
    if (id >= table.tokens.size())
      throw Error("{} is damaged: its table of {} tokens has no token {}", name, table.tokens.size(), id);
    return static_cast<int32_t>(id);
  };
  for (const auto& [place, id] : numbers) *place = checked(id);
  for (const uint64_t id : forbidden) table.never.push_back(checked(id));
  if (table.unknown < 0) throw Error("{} is damaged: its token table has no unknown token", name);
  return table;
}

}  // namespace

std::string with_token_table(std::string model, const TokenTable& table) {
  std::string bytes;
  for (const std::string& one : table.tokens) bytes += protobuf_field(token, one);
  const auto add = [&](Field field, int32_t id) {
    if (id >= 0) bytes += protobuf_field(field, static_cast<uint64_t>(id));
  };
  add(unknown, table.unknown);
  add(start, table.start);
  add(end, table.end);
  for (const int32_t id : table.never) add(never, id);
  return model + protobuf_field(table_field, bytes);
}

std::optional<TokenTable> token_table_of(std::string_view model, const std::string& name) {
  std::optional<TokenTable> table;
  ProtobufMessage message(model);
  for (ProtobufField field; message.next(field);) {
    if (field.number == table_field) table = parse(field.bytes, name);
  }
  return table;
}

}  // namespace dragoman::internal
