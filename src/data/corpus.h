// CorpusReader: the pairs of a parallel corpus, as configured in [data], in the order of its files.
//
// A corpus has sources: first the n-th file of data.source with the n-th of data.target, then each file of data.tsv
// (source, tab, target; further columns are ignored, a missing one makes the pair invalid). The corpus of a language
// model has the files of data.text instead, whose lines are targets without a source. data.swap exchanges the sides,
// data.limit ends each source early. A pair's index counts over all sources, including pairs that are left out, and so
// identifies it.
//
// Files that do not correspond are an Error, see parallel_text.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/lines.h"
#include "data/corpus_config.h"
#include "data/parallel_text.h"

namespace dragoman::internal {

struct TextPair {
  std::string source, target;
};

// Pairs that were left out, by reason. A pair with several counts for the first.
struct DroppedPairs {
  int64_t invalid = 0;   // not UTF-8, a NUL byte, or a TSV line without the column
  int64_t empty = 0;     // no subwords on a side
  int64_t too_long = 0;  // more than data.max_length subwords on either side
  int64_t ratio = 0;     // more than data.max_ratio times as many subwords on one side as on the other

  int64_t total() const { return invalid + empty + too_long + ratio; }
};

// read == kept + held_out + left_out.total()
struct CorpusCounts {
  int64_t read = 0, kept = 0, held_out = 0;
  DroppedPairs left_out;
  int64_t source_tokens = 0, target_tokens = 0;  // of the kept pairs, without start and end tokens
};
nlohmann::json to_json(const CorpusCounts& counts);
CorpusCounts corpus_counts_from_json(const nlohmann::json& json);

// The paths of a pair of files, or of a TSV file, or of one with targets alone.
struct CorpusSource {
  std::string source, target;  // target is empty for a TSV file, source where there is none
  TextFormat format = TextFormat::automatic;
  int64_t column = 0;      // of targets alone, as data.text_column
  bool documents = false;  // and as data.documents

  bool is_tsv() const { return target.empty(); }
  bool is_one_sided() const { return source.empty(); }
  std::string name() const { return is_tsv() ? source : is_one_sided() ? target : source + " and " + target; }
};
std::vector<CorpusSource> corpus_sources(const DataConfig& data);
std::vector<CorpusSource> validation_sources(const DataConfig& data);
// The size of all their files; one of unknown size, such as standard input, counts as 0.
uint64_t stored_bytes(const std::vector<CorpusSource>& sources);

struct RawPair {
  uint64_t index = 0;               // in the corpus
  int64_t origin = 0;               // the number of its source
  bool one_sided = false;           // there is no source
  bool invalid = false;             // if so, the text is empty
  std::string_view source, target;  // valid until the next pair is read
};

class CorpusReader {
 public:
  CorpusReader(std::vector<CorpusSource> sources, bool swap, int64_t limit);

  bool next(RawPair& pair);

  uint64_t bytes_read() const;  // of the files as stored

 private:
  bool read_pair(RawPair& pair);
  bool read_columns(RawPair& pair);
  bool read_text(RawPair& pair, const CorpusSource& source);
  bool read_line_of_text(RawPair& pair, int64_t column);
  void open_next();
  void close();

  std::vector<CorpusSource> sources_;
  bool swap_;
  int64_t limit_;
  int64_t origin_ = -1;
  int64_t read_of_source_ = 0;
  uint64_t index_ = 0;
  uint64_t bytes_of_earlier_ = 0;
  std::optional<ParallelText> files_;  // of the current source, or the one that it has
  std::optional<LineReader> file_;
  std::string document_;
};

// Whether a text consists only of spaces, tabs and carriage returns.
bool is_blank(std::string_view text);
bool is_blank(const RawPair& pair);  // one of its sides

// Whether a text is far longer than so many subwords: neighbours that are unknown are one subword, which SentencePiece
// makes in quadratic time.
bool is_no_sentence(std::string_view text, int64_t max_length);

// Reads a small corpus such as a validation set. Leaves out and counts empty and invalid pairs, and those with a text
// that is no sentence.
std::vector<TextPair> read_pairs(const std::vector<CorpusSource>& sources, bool swap, DroppedPairs& left_out,
                                 int64_t max_length = DataConfig().max_length);
// The same with a warning that counts them. what: the text's name in it.
std::vector<TextPair> read_pairs_of_user(std::string_view what, const std::vector<CorpusSource>& sources,
                                         bool swap, int64_t max_length = DataConfig().max_length);
// Of text that the program has written, which has none of them.
inline std::vector<TextPair> read_pairs(const std::vector<CorpusSource>& sources, bool swap = false) {
  DroppedPairs left_out;
  return read_pairs(sources, swap, left_out);
}

}  // namespace dragoman::internal
