// The table [data] of a recipe: the training and validation data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "text/noise.h"

namespace dragoman::internal {

// Sentences generated on the fly, see synthetic.h.
enum class Synthetic { none, copy, reverse, sort };

// How a file holds its sentences, see sentence_reader.h.
enum class TextFormat { automatic, text, iwslt, sgm };

// How an epoch goes through several sources: all of them together, or one after the other.
enum class SourceOrder { mixed, consecutive };

struct DataConfig {
  std::vector<std::string> source, target;  // the n-th of one belongs to the n-th of the other
  TextFormat format = TextFormat::automatic;
  std::vector<std::string> tsv;   // files of both: source, tab, target. They count after the pairs above
  std::vector<std::string> text;  // or, for a language model, files of targets alone,
  int64_t text_column = 0;        // in this column, the first is 1; 0: whole lines
  bool documents = false;         // texts are paragraphs, which empty lines separate
  std::vector<double> weights;    // one for each source: how often an epoch has its pairs
  std::vector<std::string> valid_source, valid_target, valid_text;
  std::string obtain;  // shown if a file is missing
  bool swap = false;
  std::string from, to;  // languages, where the vocabularies know several
  int64_t limit = 0;
  int64_t hold_out = 0;
  int64_t sample = 100'000;  // pairs that the model's folder keeps, see sample.h
  int64_t max_length = 100;
  double max_ratio = 0;
  std::string terms;  // a file, see term_lexicon.h
  double terms_share = 0.3;
  NoiseShares noise;  // of what is trained on, see text/noise.h
  SourceOrder order = SourceOrder::mixed;
  bool sort_by_length = true;

  Synthetic synthetic = Synthetic::none;
  int64_t symbols = 11;
  int64_t length = 10;
  int64_t sentences = 30;
  int64_t batches = 20;
  int64_t valid_batches = 5;
};

void declare(Options& options, DataConfig& data);

// Whether the targets have no sources.
inline bool is_one_sided(const DataConfig& data) { return !data.text.empty(); }
inline bool has_validation_files(const DataConfig& data) {
  return !data.valid_source.empty() || !data.valid_text.empty();
}

// Throw OptionError naming the first invalid key. validate() accepts a table without a corpus, require_corpus() does
// not.
void validate(const DataConfig& data);
void require_corpus(const DataConfig& data);

// data.weights: one for each pair of files and each TSV file, 1 by default.
std::vector<double> source_weights(const DataConfig& data);

// Tokens of the longest sentence in a batch, with its end token and its language.
int64_t max_sentence_length(const DataConfig& data);

}  // namespace dragoman::internal
