// Translator: text in, translations out, each request with its own options, the results by id as they end. Used by
// the commands and the library.
//
//   Translator translator(model);
//   translator.add(7, {.text = "Good morning!", .options = {.beam = 4}});
//   while (translator.busy()) for (TranslationResult& result : translator.step()) ...
//
// Every text has a translation: that of a text without words is empty, bytes that are not valid UTF-8 are read as
// U+FFFD, and what is too long is split (segments.h). A translation is a function of its request: the same bits
// whatever is translated beside it, also where it is sampled. So a sentence requested twice at the same time is
// translated once, and may later come from a cache. An output that loops is translated again with the loop forbidden.
// With a coverage penalty the search's finished hypotheses, as many as the beam is wide, are ranked anew: a score is
// then the search's own plus the penalty's weight times coverage() (attention.h).
//
// To be used from one thread.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/given_terms.h"
#include "search/parallel_search.h"
#include "search/saved_model.h"
#include "search/sentence_cache.h"
#include "search/translation.h"
#include "search/turns.h"

namespace dragoman::internal {

// How much is translated at once.
struct BatchLimits {
  int64_t sentences = 32;    // in a batch
  int64_t batch_tokens = 0;  // of their sources together; 0: no limit
  int searches = 1;          // batches side by side, which share the threads
  int64_t reserved = 0;      // of each batch's sentences: for clients that have none under way
  size_t cache_bytes = 0;    // of sentences that were translated before; 0: none are kept
};

SearchSettings search_settings(const SavedModel& model, const BatchLimits& limits);

struct TranslationRequest {
  std::string text;
  std::string prefix = {};  // text with which the output begins
  std::vector<GivenTerm> terms = {};
  SearchOptions options = {};
  Deadline deadline = {};  // later than this the request expires
  bool progress = false;   // whether it is reported by progress()
  bool tokens = true;  // whether the translations have their pieces: of a long text they take the most memory
  Turn turn = {};      // when its sentences begin, beside those of other requests
  uint64_t client = 0;  // who asks, for the rows that are reserved
};

struct TranslationResult {
  uint64_t id;
  SearchStatus status = SearchStatus::finished;
  TranslatedLine line = {};  // of a finished one
  std::string error = {};    // of a failed one: a sentence for users
};

// Since the translator was made.
struct TranslatorCounts {
  uint64_t source_tokens = 0, target_tokens = 0;  // of sentences that were searched for
  uint64_t merged = 0;                            // sentences that joined an equal one under way
  uint64_t cache_hits = 0, cache_misses = 0;
};

// The best translation so far; of a long text as far as the first segment that is not finished.
struct TranslationProgress {
  uint64_t id;
  std::string text;        // of whole characters
  size_t final_bytes = 0;  // the first so many are in the result, too
};

class Translator {
 public:
  explicit Translator(SavedModel& model, const BatchLimits& limits = {});
  ~Translator();

  // Throws an Error where the model cannot do what the options ask for. Reads what they name: the model's shortlist,
  // the words allowed beside it.
  void check(const SearchOptions& options);

  bool has_free_row() const { return search_.room() > 0; }
  // Whether a sentence of this client may have a row now: those that are free may be reserved for others.
  bool may_begin(uint64_t client) const;
  // Of the sentences in flight that may begin, the turn of the next; none: infinity.
  double next_turn() const;
  // Whether another request would not have to wait; one of this client, with this turn.
  bool has_room(double start = no_turn, uint64_t client = 0) const;
  bool busy() const { return search_.busy() || !unbegun_.empty() || !ended_.empty(); }
  // Ids are the caller's; no two requests in flight share one. Throws what check() throws.
  void add(uint64_t id, const TranslationRequest& request);
  // Its result comes with the next step. Nothing where there is none of that id.
  void cancel(uint64_t id);

  // A token further, for as many sentences as are translated at once. The results of requests that ended.
  std::vector<TranslationResult> step();
  // Of requests that asked for it and went on since the last call. What has been called final never changes.
  std::vector<TranslationProgress> progress();

  // Runs a task that uses the model, between two steps, and waits for it. It must not throw.
  void run(const std::function<void()>& task) { search_.run(task); }

  // The latest turn that has come.
  double reached_turn() const { return reached_turn_; }
  const TranslatorCounts& counts() const { return counts_; }
  size_t cache_bytes() const { return cache_.bytes(); }
  uint64_t steps() const { return search_.steps(); }
  int64_t sentences_under_way() const { return search_.unfinished(); }

 private:
  static constexpr double no_turn = std::numeric_limits<double>::infinity();

  struct Job;
  struct Place {
    uint64_t job;
    size_t segment;
    auto operator<=>(const Place&) const = default;
  };
  // A search, and all who wait for what it finds.
  struct SharedSearch {
    std::string key;     // of what is asked for, and whether progress is
    uint64_t client;     // who asked first, and has its row
    bool again = false;  // with loops forbidden
    std::set<Place> places;
  };

  const Shortlist* shortlist_for(const SearchOptions& options);
  void place_terms_of(const TranslationRequest& request, Job& job);
  std::set<std::pair<double, uint64_t>>::const_iterator next_unbegun() const;
  void begin_searches();
  void begin(Job& job, size_t segment);
  SearchRequest request_of(const Job& job, size_t segment) const;
  void expire();
  void receive(SearchResult result);
  SharedSearch remove(std::unordered_map<uint64_t, SharedSearch>::iterator search);
  void search_again(uint64_t id, SharedSearch& search);
  void take(Job& job, size_t segment, FoundSentence found);
  void finish(Job& job);
  void forget(Job& job);
  void end(Job& job, SearchStatus status);
  bool update_text(Job& job) const;

  SavedModel& model_;
  const int64_t rows_, reserved_;                // of all searches together
  std::map<std::string, Shortlist> shortlists_;  // by always_allow
  std::optional<TermSpelling> spelling_;         // once a request has terms
  ParallelSearch search_;
  uint64_t searches_ = 0;
  std::map<uint64_t, Job> jobs_;
  std::set<std::pair<double, uint64_t>> unbegun_;  // jobs with segments to begin, by the next one's turn
  std::set<std::pair<std::chrono::steady_clock::time_point, uint64_t>> deadlines_;  // of jobs
  std::unordered_map<uint64_t, SharedSearch> under_way_;                            // by the search's id
  std::unordered_map<std::string, uint64_t> by_key_;  // those that others may join
  std::unordered_map<uint64_t, int64_t> rows_of_;     // searches under way, of each client that has some
  SentenceCache cache_;
  double reached_turn_ = 0;
  TranslatorCounts counts_;
  std::vector<TranslationResult> ended_;
};

}  // namespace dragoman::internal
