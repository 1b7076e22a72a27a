// Vocabulary: the pieces that text is cut into, and their numbers. A SentencePiece model, learnt inside the program
// or read from a .spm file.
//
// Ids are fixed for every kind: 0 is the unknown piece, 1 begins what the decoder reads, 2 ends a sentence, and the
// rest are pieces. There is no padding. encode() adds no marks; decode() leaves none.
//
// Thread-safe once made. The same sentences and settings give the same model, byte for byte.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/spans.h"
#include "text/vocabulary_config.h"

namespace dragoman {

inline constexpr int32_t unknown_id = 0, bos_id = 1, eos_id = 2;

// Pieces, and the bytes of the text that each stands for: none, or those of the white space before it, too.
struct PiecesOfText {
  std::vector<int32_t> ids;
  std::vector<TextSpan> spans;
};
struct TextOfPieces {
  std::string text;
  std::vector<TextSpan> spans;
};

class Vocabulary {
 public:
  static Vocabulary read(const std::string& path);

  // The bytes of a .spm file; `name` is for errors.
  Vocabulary(std::string model, const std::string& name);
  ~Vocabulary();
  Vocabulary(Vocabulary&&) noexcept;
  Vocabulary& operator=(Vocabulary&&) noexcept;

  int64_t size() const;
  std::vector<int32_t> encode(std::string_view text) const;
  std::string decode(std::span<const int32_t> ids) const;
  // The same, and what stands where.
  PiecesOfText encode_with_spans(std::string_view text) const;
  TextOfPieces decode_with_spans(std::span<const int32_t> ids) const;

  // As in "▁the"; the marks are <unk>, <s> and </s>, and a byte of byte fallback is <0xE2>.
  const std::string& piece(int32_t id) const;
  int32_t id(std::string_view piece) const;  // unknown_id where there is none
  float score(int32_t id) const;
  bool is_byte(int32_t id) const;
  bool is_mark(int32_t id) const { return id <= eos_id; }

  const std::string& model() const { return model_; }  // the contents of its .spm file

 private:
  struct Processor;

  bool is_of_words() const;
  PiecesOfText encode_words(std::string_view text) const;

  std::string model_;
  std::unique_ptr<Processor> processor_;
};

// A text to learn from: the next sentence, or nothing. Those that are no text (is_text) must not come.
using Sentences = std::function<std::optional<std::string_view>()>;

// Learns pieces. The text is read from its beginning as often as needed, through what `open` gives each time; twice
// for words. Where it is too small for config.size pieces there are fewer. `what` names the side for errors: "source",
// "target", "shared".
Vocabulary learn_vocabulary(const VocabularyConfig& config, const std::function<Sentences()>& open,
                            const std::string& what);

// The two sides' vocabularies, which may be one.
struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;

  bool shared() const { return source == target; }
};

// source.spm and target.spm, or shared.spm, in a folder.
Vocabularies read_vocabularies(const std::string& folder);
// Files of the other kind go.
void write_vocabularies(const std::string& folder, const Vocabularies& vocabularies);

// Whether the models in two folders number the same words: weights of the one mean nothing to the other else. Two
// that have no vocabularies do.
bool have_same_vocabularies(const std::string& folder, const std::string& other);

}  // namespace dragoman
