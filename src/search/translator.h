// Translator: a model that translates texts, each request with its own options. Used by the library and the commands.
// A language model continues them instead.
//
// A text's way: TextReader splits it into sentences, the Scheduler lets them wait for their turn, Searches find their
// translations, and translated_line (translation.h) puts these together again.
//
// Every text has a translation: that of a text without words is empty, bytes that are not valid UTF-8 are read as
// U+FFFD, and what is too long is split (segments.h). A translation is a function of its request: the same bits
// whatever is translated beside it, also where it is sampled.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/given_prefix.h"
#include "search/given_terms.h"
#include "search/known_segments.h"
#include "search/queue/scheduler.h"
#include "search/saved_model.h"
#include "search/searches.h"
#include "search/translation.h"

namespace dragoman::internal {

// How much is translated at once.
struct BatchLimits {
  int64_t sentences = 32;    // in a batch
  int64_t batch_tokens = 0;  // of their sources together; 0: no limit
  int searches = 1;          // batches side by side, which share the threads
  int64_t reserved = 0;      // of each batch's sentences: for clients that have none under way
  size_t cache_bytes = 0;    // of sentences that were translated before; 0: none are kept
  // Besides the model's own: each gets a copy of the model, and as many searches.
  std::vector<const Kernels*> further_devices = {};
};

SearchSettings search_settings(const SavedModel& model, const BatchLimits& limits);

struct TranslationRequest {
  std::string text;
  std::string prefix = {};  // text with which the output begins
  std::vector<GivenTerm> terms = {};
  LookUpSegments look_up = {};  // none: nothing is known
  bool take_exact = true;       // whether a known text's translation is taken as it is
  SearchOptions options = {};
  bool tokens = true;  // whether the translations have their pieces: of a long text they take the most memory
  // The best translation so far; of a long text as far as the first segment that is not finished. What has been called
  // final never changes.
  std::function<void(const PartialText&)> on_progress = {};
  std::function<void(JobEnd, TranslatedLine)> on_end;  // a line where it finished; must not throw
};

// A text as sentences that are searched for.
struct ReadText {
  SearchedLine line;
  SearchRequest shared = {};  // what the requests of all segments have in common
  std::optional<GivenPrefix> prefix = {};
  std::vector<SearchTerms> terms = {};                  // of each segment, if there are any
  std::vector<std::vector<Neighbour>> neighbours = {};  // the same
  std::vector<size_t> searched = {};                    // segments that are searched for
  int32_t unknown_source = -1, unknown_target = -1;     // tokens
  // As in training on outputs without an end mark, which have their sources' length. Their first token is not searched
  // for either: the decoder is given it, and it is the source's.
  bool length_is_given = false;

  SearchRequest request(size_t segment) const;
  int64_t left_to_search(
      size_t segment) const;  // where its length is given: tokens after those that are, too
};

class TextReader {
 public:
  explicit TextReader(SavedModel& model) : model_(model) {}
  // From any thread. Throws an Error where the model cannot do what the options ask for.
  ReadText read(const TranslationRequest& request);

 private:
  void read_beginning(const TranslationRequest& request, ReadText& text) const;
  void read_source(const TranslationRequest& request, const Direction& direction, ReadText& text);
  const Shortlist* shortlist_for(const SearchOptions& options);
  void look_up(const TranslationRequest& request, const Direction& direction, ReadText& text) const;
  void place_terms_of(const TranslationRequest& request, ReadText& text);

  SavedModel& model_;
  std::mutex mutex_;                             // for these
  std::map<std::string, Shortlist> shortlists_;  // by always_allow
  std::optional<TermSpelling> spelling_;         // once a request has terms
};

struct Translator {
  explicit Translator(SavedModel& model, const BatchLimits& limits = {});

  // From any thread. The request's functions are called once the searches have started, on one of their threads.
  uint64_t add(TranslationRequest request, const Claim& claim = {});

  SavedModel& model;
  TextReader reader;
  Scheduler scheduler;
  Searches searches;
};

}  // namespace dragoman::internal
