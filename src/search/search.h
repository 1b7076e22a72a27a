// Search: many sentences that are translated at once, each as if it were alone.
//
// A step takes every sentence in the batch a token further, whatever its length is by now. One that is done leaves at
// the end of its step, and others that wait take its place: a sentence costs what its own length costs.
//
//   Search search({&model}, options, {.sentences = 16});
//   search.add(7, {.source = ids});
//   while (search.busy()) for (SearchResult& result : search.step()) ...
//
// A result has the same bits whatever stands beside it, in whatever order sentences came. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "data/batch.h"
#include "search/attention.h"
#include "search/beam.h"
#include "search/ensemble.h"
#include "search/shortlist.h"

namespace dragoman {

// Where outputs begin and end, and how many sentences stand beside each other.
struct SearchSettings {
  int32_t start = 1;         // the token that every target begins with; not part of the output
  int32_t end = 2;           // the token that ends one, not part of the output; −1: all have max_length
  int64_t sentences = 32;    // at once
  int64_t batch_tokens = 0;  // of their sources together; 0: no limit
  int64_t max_output_length = INT32_MAX;  // tokens, prefix included: what the model has positions for
  const Shortlist* shortlist = nullptr;   // null: a translation may consist of all words
  int64_t attention_layer = 0;            // of the first model, whose attention is wanted; 0: none
};

struct SearchTask {
  std::vector<int32_t> source;  // at least one token
  std::vector<std::vector<int32_t>> other_sources =
      {};                            // as each model but the first reads it; none: they do so, too
  std::vector<int32_t> prefix = {};  // with which the output begins
  int64_t no_repeat_ngram = 0;       // where the options have none

  const std::vector<int32_t>& source_of(size_t model) const {
    return model == 0 || other_sources.empty() ? source : other_sources.at(model - 1);
  }
};

struct SearchResult {
  uint64_t id;
  std::vector<Hypothesis> hypotheses;         // the best first, at least one
  std::vector<AttentionRows> attention = {};  // of each, where it is wanted
};

class Search {
 public:
  // Several models are an ensemble (ensemble.h). The first one's source is what a sentence's length, the limits of its
  // output, its shortlist and the keys of its samples go by.
  Search(const Models& models, const SearchOptions& options, const SearchSettings& settings);

  bool busy() const { return !active_.empty() || !waiting_.empty(); }
  // How many more sentences would not have to wait.
  int64_t room() const;
  void add(uint64_t id, SearchTask task);

  // A token for every sentence. Those that are done with it, in the order in which they came.
  std::vector<SearchResult> step();
  // Whether the models have said nothing but numbers. Where they have not, results mean nothing.
  bool finite() const { return ensemble_.finite(); }

 private:
  struct Sentence {
    uint64_t id;
    SearchTask task;
    std::vector<std::vector<int32_t>> source_rows = {};  // of each model
    uint64_t key = 0;                                    // what its samples are drawn from, beside the seed
    Beam beam = {};
    AllowedWords allowed = {};
  };

  void admit();
  void encode_sources(std::span<Sentence> sentences);
  Beam first_beam(const SearchTask& task) const;
  std::vector<OpenRow> open_rows();
  bool needs_all_words() const;
  std::vector<Element> choose(std::span<const OpenRow> open);
  std::vector<Element> apply_rules_and_draw(const Tensor& log_probabilities) const;
  void advance(Sentence& sentence, std::span<const Element> next);
  std::vector<SearchResult> take_finished();
  std::vector<AttentionRows> look_back(const SearchTask& task, const std::vector<Hypothesis>& hypotheses);

  const SearchOptions options_;
  const SearchSettings settings_;
  const int64_t width_;
  Transformer& first_;
  Ensemble ensemble_;
  std::vector<CacheRows> source_rows_;  // of each model
  CacheRows rows_;
  std::deque<Sentence> waiting_;
  std::vector<Sentence> active_;
};

// The results of all sentences of a batch, in their order.
std::vector<std::vector<Hypothesis>> search_all(Transformer& model, const PackedSide& sources,
                                                const SearchOptions& options, const SearchSettings& settings);

}  // namespace dragoman
