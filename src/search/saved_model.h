// SavedModel: a model folder loaded for translating, or several as an ensemble.
//
// The models of an ensemble have the same target vocabulary, and each a source vocabulary of its own. Source and
// output lengths, sampling keys, shortlists, alignments and flags refer to the first model.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/decoding_weights.h"
#include "search/ensemble.h"
#include "search/options.h"
#include "search/shortlist.h"
#include "text/language_tokens.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

// From which language into which a text is translated, as the models read it.
struct Direction {
  std::vector<SourceFrame> sources;  // each model's
  int32_t from = -1;  // the first model's token of the source's language; −1: it has no languages
  StartTokens start;

  // How lines are split into sentences: all, or only those that are too long for a model, by this language's rules.
  bool by_sentence = false;
  std::string language = {};  // empty: it is not known
  std::string output_language = {};
  bool folded = false;  // characters that a vocabulary lacks are read as plainer ones
};

// How a model reads sources.
struct SourceReader {
  std::shared_ptr<const Vocabulary> vocabulary;
  bool end_mark;       // the model was trained with end marks
  int64_t max_length;  // subwords of the longest source in training, without its end mark
  int64_t positions;   // tokens of the longest source that it can read, with all marks
  bool reads_terms;    // sources in training had terms: text/term_marks.h

  // Subwords of a source between these marks.
  int64_t longest_between(const SourceFrame& frame) const {
    const int64_t room = positions - std::ssize(frame.before) - std::ssize(frame.after);
    return std::max<int64_t>(1, std::min(max_length, room));
  }
};

// The defaults in a folder's config.json. A model that was trained here translates between its recipe's languages.
SearchOptions read_search_options(const std::string& folder, const nlohmann::json& config);

// Whether lines in training had several sentences often enough for the model to know how these go together. Models that
// do not say so do not, as nearly all that are published.
bool reads_paragraphs(const nlohmann::json& config);

struct SavedModel {
  // An Error names the file that is missing, damaged, or does not belong to the others. `verify`: as for map_weights.
  SavedModel(const std::string& folder, const Kernels& kernels, int threads,
             RequestedPrecision precision = RequestedPrecision::as_saved, bool verify = true);

  // Another model of the same target vocabulary, for an ensemble with the first one.
  void add(const std::string& folder, RequestedPrecision precision = RequestedPrecision::as_saved,
           bool verify = true);
  // A language model of the same target vocabulary, whose log-probabilities are added times this weight.
  void fuse(const std::string& folder, double weight,
            RequestedPrecision precision = RequestedPrecision::as_saved, bool verify = true);
  Models models();

  // The folder's shortlist. Read when it is first asked for, and kept. Throws an Error where there is none.
  const Shortlist& shortlist();
  // Reads it now if there is one: later the folder may hold another model's.
  void find_shortlist();

  const std::string folder;
  const nlohmann::json config;  // the first folder's config.json
  const SearchOptions search;   // this model's defaults: "search" in its config.json
  const bool by_sentence;       // whether lines are split into sentences unless options say otherwise
  Vocabularies vocabularies;
  Device device;
  Transformer model;
  std::vector<std::unique_ptr<Transformer>> others;
  std::unique_ptr<Transformer> language_model;  // null: none is fused
  Fusion fusion;
  std::vector<SourceReader> readers;  // each model's, the first one's first
  int64_t max_positions;              // tokens for which every model has positions

  // Between the languages that the options name, or else the folder's defaults. Throws OptionError where one of them is
  // missing, or not a model's.
  Direction direction(const SearchOptions& options) const;

  // The input of the first model's encoder; empty where the text has no subword.
  std::vector<int32_t> encode_source(std::string_view text, const SearchOptions& options = {}) const;

 private:
  std::optional<Shortlist> shortlist_;
};

// The Error of a model that computes non-finite values.
[[noreturn]] void throw_not_finite(const SavedModel& model);

}  // namespace dragoman::internal
