#include "text/spm_fields.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/lines.h"
#include "text/protobuf.h"

namespace dragoman::internal {
namespace {

// Their numbers. SentencePiece leaves 200 and above to others.
constexpr uint64_t tokenizer_field = 1000, table_field = 1001;

constexpr std::string_view simple = "simple";  // the tokenizer's name

enum Field : uint64_t {
  token = 1,
  unknown,
  start,
  end,
  suppressed,
  forced_prefix,
  language,
  position,
  replaces_start
};
enum LanguageField : uint64_t { language_name = 1, language_id };

[[noreturn]] void throw_of_later_version(const std::string& name) {
  throw Error("{} has a token table that this version cannot read: update dragoman", name);
}

// The numbers of tokens, which may stand before the tokens in the file.
class Parser {
 public:
  Parser(std::string_view bytes, const std::string& name) : name_(name) {
    ProtobufMessage message(bytes);
    for (ProtobufField field; message.next(field);) {
      if (field.type == ProtobufField::Type::bytes && field.number == token) {
        table_.tokens.push_back(text(field.bytes));
      } else if (field.type == ProtobufField::Type::bytes && field.number == language) {
        add_language(field.bytes);
      } else if (field.type == ProtobufField::Type::varint) {
        set_number(field.number, field.value);
      } else {
        throw_of_later_version(name_);
      }
    }
    check_ids();
  }

  TokenTable take() { return std::move(table_); }

 private:
  std::string text(std::string_view bytes) const {
    if (!is_text(bytes)) throw Error("{} is damaged: its token table is not UTF-8", name_);
    return std::string(bytes);
  }

  // Beyond 31 bits no table has a token.
  static int32_t id(uint64_t value) { return static_cast<int32_t>(std::min<uint64_t>(value, INT32_MAX)); }

  void set_number(uint64_t number, uint64_t value) {
    switch (number) {
      case unknown:
        table_.unknown = id(value);
        break;
      case start:
        table_.start = id(value);
        break;
      case end:
        table_.end = id(value);
        break;
      case suppressed:
        table_.suppressed.push_back(id(value));
        break;
      case forced_prefix:
        table_.forced_prefix.push_back(id(value));
        break;
      case position:
        if (value > static_cast<uint64_t>(Languages::TokenPosition::target_first))
          throw_of_later_version(name_);
        table_.languages.position = static_cast<Languages::TokenPosition>(value);
        break;
      case replaces_start:
        table_.languages.replaces_start = value != 0;
        break;
      default:
        throw_of_later_version(name_);
    }
  }

  void add_language(std::string_view bytes) {
    auto& [name, language] = table_.languages.tokens.emplace_back("", -1);
    ProtobufMessage message(bytes);
    for (ProtobufField field; message.next(field);) {
      if (field.number == language_name && field.type == ProtobufField::Type::bytes) name = text(field.bytes);
      if (field.number == language_id && field.type == ProtobufField::Type::varint)
        language = id(field.value);
    }
    if (name.empty() || language < 0)
      throw Error("{} is damaged: a language in its token table lacks its name or token", name_);
  }

  void check_ids() const {
    const auto check = [&](int32_t id) {
      if (id >= std::ssize(table_.tokens))
        throw Error("{} is damaged: its table of {} tokens has no token {}", name_, table_.tokens.size(), id);
    };
    for (const int32_t id : {table_.unknown, table_.start, table_.end}) check(id);
    for (const auto* ids : {&table_.suppressed, &table_.forced_prefix})
      for (const int32_t id : *ids) check(id);
    for (const auto& [name, id] : table_.languages.tokens) check(id);
    if (table_.unknown < 0) throw Error("{} is damaged: its token table has no unknown token", name_);
  }

  const std::string& name_;
  TokenTable table_;
};

std::string languages_fields(const Languages& languages) {
  std::string bytes;
  for (const auto& [name, id] : languages.tokens) {
    bytes += protobuf_field(language, protobuf_field(language_name, name) +
                                          protobuf_field(language_id, static_cast<uint64_t>(id)));
  }
  if (languages.position != Languages::TokenPosition::first)
    bytes += protobuf_field(position, static_cast<uint64_t>(languages.position));
  if (languages.replaces_start) bytes += protobuf_field(replaces_start, uint64_t{1});
  return bytes;
}

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

std::string with_token_table(std::string model, const TokenTable& table) {
  std::string bytes;
  for (const std::string& one : table.tokens) bytes += protobuf_field(token, one);
  const auto add = [&](Field field, int32_t id) {
    if (id >= 0) bytes += protobuf_field(field, static_cast<uint64_t>(id));
  };
  add(unknown, table.unknown);
  add(start, table.start);
  add(end, table.end);
  for (const int32_t id : table.suppressed) add(suppressed, id);
  for (const int32_t id : table.forced_prefix) add(forced_prefix, id);
  return model + protobuf_field(table_field, bytes + languages_fields(table.languages));
}

std::string without_token_table(std::string model) {
  size_t end = 0;  // of the fields before the table, which is the last one
  ProtobufMessage message(model);
  for (ProtobufField field; message.next(field);) {
    if (field.number == table_field) {
      end = model.size() - protobuf_field(table_field, field.bytes).size();
      break;
    }
    end = model.size();
  }
  model.resize(end);
  return model;
}

std::optional<TokenTable> token_table_of(std::string_view model, const std::string& name) {
  std::optional<TokenTable> table;
  try {
    ProtobufMessage message(model);
    for (ProtobufField field; message.next(field);) {
      if (field.number == table_field) table = Parser(field.bytes, name).take();
    }
  } catch (const ProtobufDamage& damage) {
    throw Error("{} has a damaged token table: {}", name, damage.what());
  }
  return table;
}

}  // namespace dragoman::internal
