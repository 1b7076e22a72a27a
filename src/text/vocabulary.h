// Vocabulary: the subwords that text is split into, and their ids. A SentencePiece model, learned by this program or
// read from a .spm file. The code calls subwords pieces, as SentencePiece does.
//
// A model says which of its tokens are special; those learned here number <unk>, <s> and </s> 0, 1 and 2. There is no
// padding token. encode() adds no special tokens; decode() skips them. A vocabulary of words may have a tokenizer, by
// which encode() divides the text and decode() joins the words.
//
// A vocabulary of another system may have a table of tokens (spm_fields.h): its ids are the tokens' places there.
//
// Thread-safe once constructed. The same sentences and settings give the same model, byte for byte.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/languages.h"
#include "text/spans.h"
#include "text/vocabulary_config.h"

namespace dragoman::internal {

// Ids of the tokens that are not text; −1: the vocabulary has no such token.
struct SpecialTokens {
  int32_t unknown;  // replaces what no piece spells
  int32_t start;    // what the decoder reads before the first token of a target
  int32_t end;      // ends a sentence

  // What an encoder reads where there is no text: at least one token.
  int32_t empty_source_token() const { return end >= 0 ? end : unknown; }

  bool operator==(const SpecialTokens&) const = default;
};

// The tokens that start and end a sentence, from a model's folder: they override those of its vocabulary.
struct BoundaryTokens {
  int32_t start, end;  // end −1: sentences have a fixed length
};

// Pieces, and the bytes of the text that each covers: possibly none, possibly with the white space before it.
struct PiecesOfText {
  std::vector<int32_t> ids;
  std::vector<TextSpan> spans;
};
struct TextOfPieces {
  std::string text;
  std::vector<TextSpan> spans;
  bool of_words = false;  // each span is a word, and the space before it if there is one
};

// The control tokens around terms in a source, see term_marks.h.
inline constexpr const char *term_begin_name = "<term>", *term_is_name = "<is>", *term_end_name = "</term>";

class Vocabulary {
 public:
  static Vocabulary read(const std::string& path);

  // From the bytes of a .spm file; `name` is for errors. Throws Error unless it has an unknown and an end token, the
  // latter unless `boundaries` are given.
  Vocabulary(std::string model, const std::string& name, std::optional<BoundaryTokens> boundaries = {});
  ~Vocabulary();
  Vocabulary(Vocabulary&&) noexcept;
  Vocabulary& operator=(Vocabulary&&) noexcept;

  int64_t size() const;
  const SpecialTokens& special() const { return special_; }
  // Tokens that are never output, besides the start token.
  const std::vector<int32_t>& suppressed() const { return suppressed_; }
  // The bytes of a token such as >>fra<< that a text begins with, by which some models know the target language; or 0.
  size_t language_tag(std::string_view text) const;
  // Tokens that every output begins with, and that are not part of its text.
  const std::vector<int32_t>& forced_prefix() const { return forced_prefix_; }
  const Languages& languages() const { return languages_; }
  std::vector<int32_t> encode(std::string_view text) const;
  std::string decode(std::span<const int32_t> ids) const;
  // The same, with the span of each piece.
  PiecesOfText encode_with_spans(std::string_view text) const;
  TextOfPieces decode_with_spans(std::span<const int32_t> ids) const;

  // "▁the"; "<unk>", "<s>", "</s>"; "<0xE2>" for a byte of byte fallback.
  const std::string& piece(int32_t id) const;
  int32_t id(std::string_view piece) const;  // special().unknown if there is none
  float score(int32_t id) const;
  bool is_byte(int32_t id) const;
  std::optional<char> byte_of(int32_t id) const;  // of a byte of byte fallback
  bool is_special(int32_t id) const;  // a control token or the unknown token, which represents no text

  const std::string& model() const { return model_; }  // the contents of its .spm file

 private:
  struct Processor;

  bool is_of_words() const;
  bool is_control(int32_t id) const;
  PiecesOfText encode_words(std::string_view text) const;
  TextOfPieces join_words(std::span<const int32_t> ids) const;

  std::string model_;
  std::unique_ptr<Processor> processor_;
  SpecialTokens special_;
  std::vector<int32_t> suppressed_, forced_prefix_;
  Languages languages_;
};

// A text to learn from: the next sentence, or nothing at its end. Each must be valid text (is_text).
using Sentences = std::function<std::optional<std::string_view>()>;

// Learns a vocabulary. Each call of `open` starts the text again; words need two passes. The vocabulary is smaller than
// config.size if the text has too few pieces. `what` names the side in errors: "source", "target", "shared".
Vocabulary learn_vocabulary(const VocabularyConfig& config, const std::function<Sentences()>& open,
                            const std::string& what);

// The two sides' vocabularies, which may be one.
struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;

  bool shared() const { return source == target; }
  // Shared, or two that segment differently into the same tokens, as some other systems have.
  bool have_same_tokens() const;
};

// Reads source.spm and target.spm, or shared.spm, which must match the checksums that the folder's configuration may
// have of them. The target's needs a start token, which the decoder reads first. The configuration may name "marks".
Vocabularies read_vocabularies(const std::string& folder);
// One of these files.
std::shared_ptr<const Vocabulary> read_vocabulary(const std::string& folder, const std::string& name);

// Removes files of the other kind.
void write_vocabularies(const std::string& folder, const Vocabularies& vocabularies);

// Whether two model folders have the same vocabulary files, so that weights of the one fit the other. True if neither
// has any.
bool have_same_vocabularies(const std::string& folder, const std::string& other);

}  // namespace dragoman::internal
