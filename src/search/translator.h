// Translator: lines of text in, their translations out, in the same order. What the command line and a server share.
//
//   Translator translator(model, options);
//   while (more lines come, or translator.busy()) {
//     while (translator.has_room() && another line is there) translator.add(line);
//     translator.step();
//     while (auto line = translator.take()) print(line->translations[0].text);
//   }
//
// A line goes out as soon as all before it have; memory is bounded by the room. Every line has a translation: that of
// a line without text is empty, bytes that are no UTF-8 are read as U+FFFD, and what is too long is parted (parts.h).
// A translation is a function of its line and the options, also where it is sampled: the same line and seed give the
// same one. Lines that wait together and are the same are translated once. An output that loops is translated again
// with the loop forbidden.
// With a coverage penalty the search's finished hypotheses, as many as the beam is wide, are ranked anew: a score is
// then the search's own plus the penalty's weight times coverage() (attention.h).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "search/parallel_search.h"
#include "search/saved_model.h"
#include "search/translation.h"

namespace dragoman {

struct TranslatedLine {
  std::string source;                            // as it was read, repaired where it was no text
  std::vector<Translation> translations = {{}};  // the best first, at least one; their texts differ
  std::vector<SourcePiece> pieces = {};          // what was read, where alignment is asked for

  bool invalid = false;  // the source was no text
  bool cut = false;      // a sentence was parted, or an output ended because it was as long as may be
  bool unknown = false;  // the source has characters that the model does not know, or the output does
  bool repeats = false;  // the output looped, and was translated again
};

// How much is translated at once.
struct BatchLimits {
  int64_t sentences = 32;    // in a batch
  int64_t batch_tokens = 0;  // of their sources together; 0: no limit
  int searches = 1;          // batches side by side, which share the threads
};

class Translator {
 public:
  // Reads what the options name: the model's shortlist, the words allowed beside it.
  Translator(SavedModel& model, const SearchOptions& options, const BatchLimits& limits = {});

  bool has_room() const;
  bool busy() const { return !lines_.empty(); }
  // `prefix`: text with which the output begins.
  void add(std::string_view line, std::string_view prefix = {});
  // A token further, for as many sentences as are translated at once.
  void step();
  // The next line, if it is done.
  std::optional<TranslatedLine> take();

 private:
  struct Job;
  struct Place {
    std::shared_ptr<Job> job;
    size_t part;
  };

  void start(const std::shared_ptr<Job>& job);
  std::vector<ScoredHypothesis> ranked(const Segment& part, SearchResult result) const;
  void receive(const Place& place, std::vector<ScoredHypothesis> found);
  TranslatedLine translated(const Job& job) const;
  Translation joined(const Job& job, size_t rank) const;

  SavedModel& model_;
  const SearchOptions options_;
  const int64_t max_lines_;
  const std::optional<Shortlist> shortlist_;
  ParallelSearch search_;
  uint64_t searches_ = 0;
  std::deque<std::shared_ptr<Job>> lines_;
  std::unordered_map<std::string, std::weak_ptr<Job>> same_;  // by source and prefix
  std::unordered_map<uint64_t, Place> searched_;              // by the search's id
};

}  // namespace dragoman
