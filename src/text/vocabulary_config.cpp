#include "text/vocabulary_config.h"

#include <fmt/format.h>

namespace dragoman::internal {

void declare(Options& options, VocabularyConfig& vocabulary) {
  auto section = options.section("vocabulary", "Subword vocabularies");
  section.add("kind", vocabulary.kind, "subword algorithm; word: whole words, see tokenizer",
              {{"bpe", PieceKind::bpe},
               {"unigram", PieceKind::unigram},
               {"char", PieceKind::characters},
               {"word", PieceKind::words}});
  section.add("tokenizer", vocabulary.tokenizer,
              "word: none splits at spaces; simple also splits off punctuation, and restores the spacing",
              {{"none", WordTokenizer::none}, {"simple", WordTokenizer::simple}});
  section.add(
      "size", vocabulary.size,
      "subwords of each vocabulary, special tokens included; fewer if the corpus is small; 0: all words or "
      "characters",
      at_least(0).at_most(1'000'000));
  section.add("shared", vocabulary.shared, "one vocabulary for both languages");
  section.add("min_frequency", vocabulary.min_frequency, "word: rarer words are unknown", at_least(1));
  section.add("byte_fallback", vocabulary.byte_fallback,
              "encode unknown characters as bytes (256 of the subwords)");
  section.add("character_coverage", vocabulary.character_coverage,
              "share of the text's characters that get a subword; the rarest are unknown",
              at_least(0.98).at_most(1));
  section.add("source_eos", vocabulary.source_eos, "end each source sentence with </s>");
  section.add("sampling", vocabulary.sampling,
              "subword regularisation; bpe: probability of skipping a merge; unigram: exponent; 0: off",
              at_least(0).at_most(1));
  section.add("learn_from", vocabulary.learn_from,
              "sentences to learn the subwords from, drawn from a larger corpus",
              at_least(1).at_most(100'000'000));
  section.add("from", vocabulary.from, "folder with .spm files to use instead of learning new ones");
}

namespace {

void check_size(const VocabularyConfig& vocabulary, bool of_subwords) {
  if (vocabulary.size == 0) {
    if (!of_subwords) return;
    throw OptionError(
        "vocabulary.size",
        "must be set for vocabulary.kind bpe and unigram: 0, which means all words or characters, "
        "needs vocabulary.kind word or char");
  }
  constexpr int64_t special_tokens = 3, bytes = 256;
  if (vocabulary.size <= special_tokens) {
    throw OptionError(
        "vocabulary.size",
        fmt::format("is {}, but must be at least 4: there are 3 special tokens", vocabulary.size));
  }
  if (vocabulary.byte_fallback && vocabulary.size <= special_tokens + bytes) {
    throw OptionError("vocabulary.size",
                      fmt::format("is {}, but byte_fallback alone needs 259 subwords", vocabulary.size));
  }
}

}  // namespace

const char* name_of_pieces(PieceKind kind) {
  if (kind == PieceKind::words) return "words";
  return kind == PieceKind::characters ? "characters" : "subwords";
}

void validate(const VocabularyConfig& vocabulary) {
  const bool of_subwords = vocabulary.kind == PieceKind::bpe || vocabulary.kind == PieceKind::unigram;
  if (vocabulary.sampling > 0 && !of_subwords) {
    throw OptionError("vocabulary.sampling",
                      "needs vocabulary.kind bpe or unigram, which can segment a word in several ways");
  }
  if (vocabulary.min_frequency > 1 && vocabulary.kind != PieceKind::words) {
    throw OptionError("vocabulary.min_frequency", "applies only to vocabulary.kind word");
  }
  if (vocabulary.tokenizer != WordTokenizer::none && vocabulary.kind != PieceKind::words) {
    throw OptionError("vocabulary.tokenizer", "applies only to vocabulary.kind word: other kinds need none");
  }
  if (vocabulary.byte_fallback && vocabulary.kind == PieceKind::words) {
    throw OptionError("vocabulary.byte_fallback",
                      "does not work with vocabulary.kind word: choose another kind");
  }
  check_size(vocabulary, of_subwords);
}

}  // namespace dragoman::internal
