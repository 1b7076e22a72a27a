// Search: many requests decoded in one continuous batch, each as if it were alone.
//
// A step takes every request in the batch a token further, whatever its length is by now. One that ends leaves at the
// end of its step, and another may take its place: a request costs what its own length costs. Nothing waits here: who
// has more requests than fit keeps them (scheduler.h).
//
//   Search search({&model}, {.sentences = 16});
//   search.add(7, {.source = ids, .options = {.beam = 4}});
//   while (search.busy()) for (SearchResult& result : search.step()) ...
//
// An output that loops is searched for again with the loop forbidden, where the request asks for that.
//
// A result has the same bits whatever is decoded beside it, in whatever order requests came. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/batch.h"
#include "search/beam/progress.h"
#include "search/beam/term_beam.h"
#include "search/ensemble.h"
#include "search/neighbours.h"
#include "search/request.h"

namespace dragoman::internal {

// Where outputs begin and end, and how many requests share a batch.
struct SearchSettings {
  StartTokens start = 1;  // what the decoder reads before an output, unless a request says otherwise
  int32_t end = 2;        // the token that ends one, not part of the output; −1: all have max_length
  std::vector<int32_t> suppressed = {};   // tokens that are never output
  int64_t sentences = 32;                 // at once
  int64_t batch_tokens = 0;               // of their sources together; 0: no limit
  int64_t max_output_length = INT32_MAX;  // tokens, prefix included: what the model has positions for
};

class Search {
 public:
  // Several models are an ensemble (ensemble.h). The first one's source is what a sentence's length, the limits of its
  // output, its shortlist and the keys of its samples go by.
  Search(const Models& models, const SearchSettings& settings, const Fusion& fusion = {});

  bool busy() const { return !active_.empty(); }
  int64_t free_rows() const { return settings_.sentences - std::ssize(active_); }
  // Whether so many rows are free that it pays to fill them: the encoder then has several sources to do at once.
  bool wants_more() const { return active_.empty() || free_rows() * 4 >= settings_.sentences; }
  // Whether there is a free row, and the batch has room for the source's tokens.
  bool fits(const SearchRequest& request) const;
  // A request that fits begins with the next step. Ids are the caller's; no two requests in the batch share one.
  void add(uint64_t id, SearchRequest request);
  // Frees all that the request holds. Nothing where there is none of that id.
  void remove(uint64_t id);

  // A token for every request in the batch. The results of those that ended, in the order in which they came.
  std::vector<SearchResult> step();
  // Of those in the batch that asked for it.
  std::vector<SearchProgress> progress() const;

  int64_t cache_rows_in_use() const;

 private:
  struct Sentence {
    uint64_t id;
    SearchRequest request;
    size_t nbest;
    std::vector<std::vector<int32_t>> source_rows = {};  // of each model
    uint64_t key = 0;                                    // what its samples are drawn from, beside the seed
    Beam beam = {};
    size_t tokens_read = 0;  // by each open hypothesis, the start tokens among them
    AllowedWords allowed = {};
    KnownStates known = {};                 // of its neighbours
    std::vector<TermChoices> choices = {};  // of each open hypothesis in this step, where there are terms
    FinalPrefix final_prefix = {};
    bool failed = false, repeats = false;

    bool ended() const { return failed || beam.open.empty(); }
  };
  struct Group;

  std::vector<Tensor> encode_new_sources();
  void fail_where_not_finite(size_t first_sentence, std::span<const Tensor> of_models);
  void allow_words(Sentence& sentence) const;
  void open_neighbours(std::span<Sentence> sentences);
  const StartTokens& start_of(const SearchRequest& request) const;
  Beam first_beam(const SearchRequest& request) const;
  static Group group_of(const Sentence& sentence);
  std::vector<Group> groups();
  std::vector<OpenRow> open_rows(std::span<Group> groups);
  void ask_for_best(const Group& group, NextScores& scores, Element* best);
  std::vector<Element> choose(std::span<const Group> groups, NextScores& scores);
  static std::vector<Element> apply_rules_and_draw(const Group& group, NextScores& scores,
                                                   const Tensor& log_probabilities);
  void keep_attention(const Group& group, NextScores& scores);
  static void consider_terms(Sentence& sentence, const Hypothesis& hypothesis, NextScores& scores, size_t row,
                             const NextWords& next);
  static std::vector<Candidate> best_candidates(Sentence& sentence, std::span<const Element> next);
  void advance(const Group& group, std::span<const Element> next);
  void advance(Sentence& sentence, std::span<const Element> next);
  void release_all_but_newest(Hypothesis& hypothesis);
  void release(Sentence& sentence);
  bool search_again(Sentence& sentence);
  std::vector<SearchResult> take_ended();

  const SearchSettings settings_;
  Ensemble ensemble_;
  NeighbourStates neighbours_;
  std::vector<CacheRows> source_rows_;  // of each model
  CacheRows rows_;
  std::vector<Sentence> active_;
  size_t encoded_ = 0;  // this many of the first
};

// The hypotheses of all sentences of a batch, in their order; one without words where the model computes non-finite
// values. A language model continues the sources.
std::vector<std::vector<Hypothesis>> search_all(Transformer& model, const PackedSide& sources,
                                                const SearchOptions& options, const SearchSettings& settings);

}  // namespace dragoman::internal
