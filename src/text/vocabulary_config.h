// The table [vocabulary] of a recipe: how text is split into subwords.
#pragma once

#include <cstdint>
#include <string>

#include "base/options.h"

namespace dragoman::internal {

enum class PieceKind { bpe, unigram, characters, words };

// How a vocabulary of words divides a text: only at spaces, or as in word_tokenizer.h.
enum class WordTokenizer { none, simple };

struct VocabularyConfig {
  PieceKind kind = PieceKind::bpe;
  WordTokenizer tokenizer = WordTokenizer::none;
  int64_t size = 8000;  // 0: all words or characters
  bool shared = false;
  int64_t min_frequency = 1;
  bool byte_fallback = false;
  double character_coverage = 0.99999;  // SentencePiece's 0.9995 drops digits and capitals of small corpora
  bool source_eos = true;
  double sampling = 0;
  int64_t learn_from = 1'000'000;
  std::string from;
};

void declare(Options& options, VocabularyConfig& vocabulary);

// What its pieces are, for people: subwords, characters or words.
const char* name_of_pieces(PieceKind kind);

// Throws OptionError naming the first invalid key.
void validate(const VocabularyConfig& vocabulary);

}  // namespace dragoman::internal
