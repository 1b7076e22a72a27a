#include "text/sentencepiece_check.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/lines.h"
#include "text/protobuf.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_piece_bytes = size_t{1} << 16;

uint32_t word_at(std::string_view bytes, size_t place) {
  uint32_t word;
  std::memcpy(&word, bytes.data() + place, sizeof word);  // little endian, as SentencePiece writes it
  return word;
}

// --- Pieces -----------------------------------------------------------------------------------------

enum PieceType : uint64_t { normal = 1, unknown_piece, control, user_defined, unused, byte };

bool is_byte_piece(std::string_view text) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
  return text.size() == 6 && text.starts_with("<0x") && is_hex(text[3]) && is_hex(text[4]) && text[5] == '>';
}

// Its type.
uint64_t check_piece(std::string_view bytes) {
  std::string_view text;
  uint64_t type = normal;
  float score = 0;
  ProtobufMessage piece(bytes);
  for (ProtobufField field; piece.next(field);) {
    if (field.number == 1 && field.type == ProtobufField::Type::bytes) text = field.bytes;
    if (field.number == 2 && field.type == ProtobufField::Type::fixed32)
      std::memcpy(&score, field.bytes.data(), sizeof score);
    if (field.number == 3 && field.type == ProtobufField::Type::varint) type = field.value;
  }
  if (text.empty() || text.size() > max_piece_bytes || !is_text(text))
    throw ProtobufDamage("a piece is empty, too long, or not valid UTF-8");
  if (!std::isfinite(score)) throw ProtobufDamage("the score of a piece is not finite");
  if (type < normal || type > byte) throw ProtobufDamage("a piece has an unknown type");
  if (type == byte && !is_byte_piece(text)) throw ProtobufDamage("a byte piece does not name its byte");
  return type;
}

// --- Normalisation ----------------------------------------------------------------------------------

// A double array (Aoe, 1989) as darts-clone writes it: units of 32 bits, in blocks of 256.
class Trie {
 public:
  Trie(std::string_view units, std::string_view replacements) : units_(units), replacements_(replacements) {}

  // Visits every state that a text can lead to.
  void check() const {
    if (size() == 0 || units_.size() % (256 * sizeof(uint32_t)) != 0)
      throw ProtobufDamage("a normalisation table does not consist of whole blocks");
    const Transitions transitions = transitions_by_state();
    std::vector<bool> seen(size());
    std::vector<size_t> waiting;
    const auto reach = [&](size_t base) {
      if (base >= size()) throw ProtobufDamage("a transition leads out of its normalisation table");
      if (!seen[base]) waiting.push_back(base);
      seen[base] = true;
    };
    reach(offset(0));
    while (!waiting.empty()) {
      const size_t base = waiting.back();
      waiting.pop_back();
      for (uint32_t place = transitions.first[base]; place != none; place = transitions.next[place]) {
        const size_t state = place ^ offset(place);
        reach(state);
        if ((unit(place) >> 8 & 1) != 0) check_replacement(unit(state) & 0x7FFFFFFFU);
      }
    }
  }

 private:
  static constexpr uint32_t none = UINT32_MAX;
  struct Transitions {
    std::vector<uint32_t> first, next;  // of a state, and of the same state as this one
  };

  // A unit whose label is L is a transition of state place ^ L, which lies in the same block.
  Transitions transitions_by_state() const {
    Transitions all = {.first = std::vector<uint32_t>(size(), none),
                       .next = std::vector<uint32_t>(size(), none)};
    for (size_t place = 0; place < size(); ++place) {
      const size_t label = unit(place) & 0x800000FFU;
      if (label < 256)
        all.next[place] = std::exchange(all.first[place ^ label], static_cast<uint32_t>(place));
    }
    return all;
  }

  size_t size() const { return units_.size() / sizeof(uint32_t); }
  uint32_t unit(size_t place) const { return word_at(units_, place * sizeof(uint32_t)); }
  size_t offset(size_t place) const { return (unit(place) >> 10) << ((unit(place) & (1U << 9)) >> 6); }

  void check_replacement(size_t begin) const {
    const size_t end = begin < replacements_.size() ? replacements_.find('\0', begin) : replacements_.npos;
    if (end == replacements_.npos || !is_text(replacements_.substr(begin, end - begin)))
      throw ProtobufDamage("a replacement lies outside its normalisation table, or is not valid UTF-8");
  }

  std::string_view units_, replacements_;
};

// The size of the trie, the trie, and the replacements, each with a zero behind it. None at all is fine.
void check_character_map(std::string_view map) {
  if (map.empty()) return;
  if (map.size() < sizeof(uint32_t)) throw ProtobufDamage("a normalisation table ends too early");
  const size_t trie = word_at(map, 0);
  map.remove_prefix(sizeof(uint32_t));
  if (trie >= map.size()) throw ProtobufDamage("a normalisation table ends too early");
  Trie(map.substr(0, trie), map.substr(trie)).check();
}

void check_normaliser(std::string_view bytes) {
  ProtobufMessage normaliser(bytes);
  for (ProtobufField field; normaliser.next(field);) {
    if (field.number == 2 && field.type == ProtobufField::Type::bytes) check_character_map(field.bytes);
  }
}

void check_all(std::string_view bytes) {
  size_t pieces = 0, unknown_pieces = 0;
  ProtobufMessage model(bytes);
  for (ProtobufField field; model.next(field);) {
    if (field.type != ProtobufField::Type::bytes) continue;
    if (field.number == 1) {
      ++pieces;
      unknown_pieces += check_piece(field.bytes) == unknown_piece;
    } else if (field.number == 2) {
      ProtobufMessage trainer(field.bytes);
      for (ProtobufField setting; trainer.next(setting);) {}
    } else if (field.number == 3 || field.number == 5) {
      check_normaliser(field.bytes);
    }
  }
  if (pieces == 0 || pieces > max_sentencepieces) throw ProtobufDamage("it has {} pieces", pieces);
  if (unknown_pieces != 1) throw ProtobufDamage("{} of its pieces are unknown tokens, not 1", unknown_pieces);
}

}  // namespace

void check_sentencepiece(std::string_view model, const std::string& name) {
  try {
    check_all(model);
  } catch (const ProtobufDamage& damage) {
    throw Error("{} is not a SentencePiece model, or is damaged: {}", name, damage.what());
  }
}

}  // namespace dragoman::internal
