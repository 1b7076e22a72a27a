// The tables [data] and [vocabulary] of a recipe: what to learn from, and into which pieces to cut it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"

namespace dragoman {

// Sentences made up as they are needed, see synthetic.h.
enum class Synthetic { none, copy, reverse, sort };

// How an epoch goes through several sources: all of them together, or one after the other.
enum class SourceOrder { mixed, consecutive };

struct DataConfig {
  std::vector<std::string> source, target;  // the n-th of one belongs to the n-th of the other
  std::vector<std::string> tsv;      // files of both: source, tab, target. They count after the pairs above
  std::vector<std::string> weights;  // numbers, one for each source: how often an epoch has its pairs
  std::vector<std::string> valid_source, valid_target;
  std::string obtain;  // told to those who have not got the files
  bool swap = false;
  int64_t limit = 0;
  int64_t hold_out = 0;
  int64_t max_length = 100;
  double max_ratio = 0;
  SourceOrder order = SourceOrder::mixed;
  bool sort_by_length = true;

  Synthetic synthetic = Synthetic::none;
  int64_t symbols = 11;
  int64_t length = 10;
  int64_t sentences = 30;
  int64_t batches = 20;
  int64_t valid_batches = 5;
};

enum class PieceKind { bpe, unigram, characters, words };

struct VocabularyConfig {
  PieceKind kind = PieceKind::bpe;
  int64_t size = 8000;
  bool shared = false;
  int64_t min_frequency = 1;
  bool byte_fallback = false;
  double character_coverage = 0.99999;  // SentencePiece's 0.9995 loses digits and capitals of small corpora
  bool source_eos = true;
  double sampling = 0;
  int64_t learn_from = 1'000'000;
  std::string from;
};

void declare(Options& options, DataConfig& data);
void declare(Options& options, VocabularyConfig& vocabulary);

// Throw OptionError naming the first key whose value cannot be. A table that names no corpus at all passes:
// whoever needs one calls require_corpus.
void validate(const DataConfig& data);
void validate(const VocabularyConfig& vocabulary);
void require_corpus(const DataConfig& data);

// data.weights as numbers: one for each pair of files and each TSV file; 1 where nothing is said.
std::vector<double> source_weights(const DataConfig& data);

// Tokens of the longest sentence that a batch can hold, marks included.
int64_t longest_sentence(const DataConfig& data);

}  // namespace dragoman
