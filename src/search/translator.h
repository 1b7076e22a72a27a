// Translator: text in, translations out, each request with its own options, the results by id as they end. What the
// commands and the library share.
//
//   Translator translator(model);
//   translator.add(7, {.text = "Good morning!", .options = {.beam = 4}});
//   while (translator.busy()) for (TranslationResult& result : translator.step()) ...
//
// Every text has a translation: that of a text without words is empty, bytes that are not valid UTF-8 are read as
// U+FFFD, and what is too long is split (segments.h). A translation is a function of its request: the same bits
// whatever is translated beside it, also where it is sampled. An output that loops is translated again with the loop
// forbidden.
// With a coverage penalty the search's finished hypotheses, as many as the beam is wide, are ranked anew: a score is
// then the search's own plus the penalty's weight times coverage() (attention.h).
//
// To be used from one thread.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/parallel_search.h"
#include "search/saved_model.h"
#include "search/translation.h"

namespace dragoman::internal {

// How much is translated at once.
struct BatchLimits {
  int64_t sentences = 32;    // in a batch
  int64_t batch_tokens = 0;  // of their sources together; 0: no limit
  int searches = 1;          // batches side by side, which share the threads
};

struct TranslationRequest {
  std::string text;
  std::string prefix = {};  // text with which the output begins
  SearchOptions options = {};
  Deadline deadline = {};  // later than this the request expires
  bool progress = false;   // whether it is reported by progress()
  bool tokens = true;  // whether the translations have their pieces: of a long text they take the most memory
};

struct TranslationResult {
  uint64_t id;
  SearchStatus status = SearchStatus::finished;
  TranslatedLine line = {};  // of a finished one
  std::string error = {};    // of a failed one: a sentence for users
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

  // Whether another request would not have to wait.
  bool has_room() const { return search_.room() > 0; }
  bool busy() const { return search_.busy() || !ended_.empty(); }
  // Ids are the caller's; no two requests in flight share one. Throws what check() throws.
  void add(uint64_t id, const TranslationRequest& request);
  // Its result comes with the next step. Nothing where there is none of that id.
  void cancel(uint64_t id);

  // A token further, for as many sentences as are translated at once. The results of requests that ended.
  std::vector<TranslationResult> step();
  // Of requests that asked for it and went on since the last call. What has been called final never changes.
  std::vector<TranslationProgress> progress();

 private:
  struct Job;
  struct Place {
    Job* job;
    size_t segment;
  };

  const Shortlist* shortlist_for(const SearchOptions& options);
  void begin_searches();
  void search(Job& job, size_t segment);
  void receive(SearchResult result);
  void finish(Job& job);
  void end(Job& job, SearchStatus status);
  bool update_text(Job& job) const;

  SavedModel& model_;
  std::map<std::string, Shortlist> shortlists_;  // by always_allow
  ParallelSearch search_;
  uint64_t searches_ = 0;
  std::map<uint64_t, Job> jobs_;
  std::unordered_map<uint64_t, Place> places_;  // by the search's id
  std::vector<TranslationResult> ended_;
};

}  // namespace dragoman::internal
