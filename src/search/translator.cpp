#include "search/translator.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/lines.h"
#include "search/repetition.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr int64_t forbidden_ngram = 3;  // where an output looped

SearchSettings search_settings(const SavedModel& model, const BatchLimits& limits) {
  const SpecialTokens& special = model.vocabularies.target->special();
  return {.start = special.start,
          .end = special.end,
          .never = model.vocabularies.target->never(),
          .sentences = limits.sentences,
          .batch_tokens = limits.batch_tokens,
          .max_output_length = model.max_positions - 1};
}

std::string valid_text(const std::string& text) { return is_text(text) ? text : repaired(text); }

// With a coverage penalty all hypotheses that the beam has finished are ranked anew.
SearchOptions for_search(SearchOptions options) {
  if (options.coverage_penalty > 0) options.nbest = options.beam;
  return options;
}

// What was found in a segment, those that the options let stand, in their order.
std::vector<ScoredHypothesis> ranked(const Segment& segment, SearchResult result,
                                     const SearchOptions& options) {
  std::vector<ScoredHypothesis> hypotheses;
  result.attention.resize(result.hypotheses.size());
  for (size_t i = 0; i < result.hypotheses.size(); ++i)
    hypotheses.push_back({std::move(result.hypotheses[i]), std::move(result.attention[i])});
  if (options.coverage_penalty == 0) return hypotheses;
  for (ScoredHypothesis& h : hypotheses)
    h.hypothesis.score += options.coverage_penalty * coverage(h.attention, segment.ids, segment.marks);
  std::ranges::stable_sort(hypotheses, std::greater{},
                           [](const ScoredHypothesis& h) { return h.hypothesis.score; });
  hypotheses.resize(std::min(hypotheses.size(), static_cast<size_t>(options.nbest)));
  return hypotheses;
}

}  // namespace

// A request, and what is known of its translation.
struct Translator::Job {
  uint64_t id;
  SearchOptions options;
  bool tokens;                  // whether the result has them
  SearchRequest shared;         // what the searches of all segments have in common
  std::vector<int32_t> prefix;  // of the first segment's output
  SearchedLine line;

  struct SegmentSearch {
    uint64_t id = 0;
    bool again = false;       // with loops forbidden
    SearchProgress progress;  // where it was asked for
  };
  std::vector<SegmentSearch> searches = {};
  size_t begun = 0;  // the first so many of them are
  size_t unfinished = 0;
  bool moved = false;  // since the last report
  TextSoFar reported = {};
};

Translator::Translator(SavedModel& model, const BatchLimits& limits)
    : model_(model), search_(model.models(), search_settings(model, limits), limits.searches) {}

Translator::~Translator() = default;

void Translator::check(const SearchOptions& options) {
  alignment_layer(model_.model.config, options.alignment_layer);
  model_.direction(options);
  shortlist_for(options);
}

const Shortlist* Translator::shortlist_for(const SearchOptions& options) {
  if (!options.shortlist) return nullptr;
  const auto known = shortlists_.find(options.always_allow);
  if (known != shortlists_.end()) return &known->second;
  Shortlist list = Shortlist::read(model_.folder, model_.vocabularies);
  if (!options.always_allow.empty()) list.allow_words_of(options.always_allow, *model_.vocabularies.target);
  return &shortlists_.emplace(options.always_allow, std::move(list)).first->second;
}

void Translator::add(uint64_t id, const TranslationRequest& request) {
  const SearchOptions& options = request.options;
  const int64_t layer = alignment_layer(model_.model.config, options.alignment_layer);
  const Direction direction = model_.direction(options);
  SearchRequest shared = {.start = direction.start,
                          .options = for_search(options),
                          .shortlist = shortlist_for(options),
                          .attention_layer = needs_attention(options) ? layer : 0,
                          .deadline = request.deadline,
                          .progress = request.progress,
                          .retry_ngram = forbidden_ngram};
  Job job = {.id = id, .options = options, .tokens = request.tokens, .shared = std::move(shared)};
  job.prefix = model_.vocabularies.target->encode(valid_text(request.prefix));
  job.line = {.source = valid_text(request.text), .invalid = !is_text(request.text)};
  job.line.segments = split_line(model_, job.line.source, direction);
  const size_t segments = job.line.segments.size();
  job.line.hypotheses.resize(segments);
  job.searches.resize(segments);
  job.unfinished = segments;
  Job& added = jobs_.insert_or_assign(id, std::move(job)).first->second;
  if (segments == 0) return finish(added);
  begin_searches();
}

// As many as there is room for: each has a copy of its request, and a long line has many.
void Translator::begin_searches() {
  for (auto& [id, job] : jobs_) {
    for (; job.begun < job.searches.size(); ++job.begun) {
      if (!has_room()) return;
      search(job, job.begun);
    }
  }
}

void Translator::search(Job& job, size_t segment) {
  SearchRequest request = job.shared;
  request.source = job.line.segments[segment].ids;
  request.other_sources = job.line.segments[segment].other_ids;
  if (segment == 0) request.prefix = job.prefix;
  if (model_.vocabularies.target->special().end < 0) {  // as in training, where the target's start is given
    request.options.max_length = std::clamp<int64_t>(
        std::ssize(request.source) - 1 - std::ssize(request.prefix), 1, request.options.max_length);
    request.options.max_length_ratio = 0;
  }
  if (job.searches[segment].again) request.options.no_repeat_ngram = forbidden_ngram;
  job.searches[segment].id = searches_;
  places_[searches_] = {&job, segment};
  search_.add(searches_++, std::move(request));
}

void Translator::cancel(uint64_t id) {
  if (const auto job = jobs_.find(id); job != jobs_.end()) end(job->second, SearchStatus::cancelled);
}

std::vector<TranslationResult> Translator::step() {
  if (search_.busy()) {
    for (SearchResult& result : search_.step()) receive(std::move(result));
    begin_searches();
  }
  return std::exchange(ended_, {});
}

// The result may be of a request that has already ended.
void Translator::receive(SearchResult result) {
  const auto found = places_.find(result.id);
  if (found == places_.end()) return;
  const auto [place, segment] = found->second;
  Job& job = *place;
  places_.erase(found);
  if (result.status != SearchStatus::finished) return end(job, result.status);
  const SearchOptions& options = job.options;
  const Segment& source = job.line.segments[segment];
  std::vector<ScoredHypothesis> hypotheses = ranked(source, std::move(result), options);
  const bool loops = is_loop(hypotheses[0].hypothesis.tokens, source.ids);
  job.line.repeats |= loops;
  if (loops && !std::exchange(job.searches[segment].again, true) && options.no_repeat_ngram == 0)
    return search(job, segment);
  job.line.hypotheses[segment] = std::move(hypotheses);
  job.moved = true;
  if (--job.unfinished == 0) finish(job);
}

void Translator::finish(Job& job) {
  ended_.push_back(
      {.id = job.id, .line = translated_line(job.line, model_.vocabularies, job.options, job.tokens)});
  jobs_.erase(job.id);
}

// Before all of its segments are finished.
void Translator::end(Job& job, SearchStatus status) {
  for (const Job::SegmentSearch& search : std::span(job.searches).first(job.begun)) {
    if (places_.erase(search.id) > 0) search_.cancel(search.id);
  }
  ended_.push_back({.id = job.id, .status = status});
  if (status == SearchStatus::failed) ended_.back().error = not_finite_message(model_);
  jobs_.erase(job.id);
}

std::vector<TranslationProgress> Translator::progress() {
  for (SearchProgress& progress : search_.progress()) {
    const auto found = places_.find(progress.id);
    if (found == places_.end()) continue;
    auto& [job, segment] = found->second;
    job->searches[segment].progress = std::move(progress);
    job->moved = true;
  }
  std::vector<TranslationProgress> all;
  for (auto& [id, job] : jobs_) {
    if (job.shared.progress && std::exchange(job.moved, false) && update_text(job))
      all.push_back({id, job.reported.text, job.reported.final_bytes});
  }
  return all;
}

// Whether there is something new to report. A second search of a segment begins anew, and is behind for a while.
bool Translator::update_text(Job& job) const {
  std::vector<SearchProgress> partial;
  for (const Job::SegmentSearch& search : job.searches) partial.push_back(search.progress);
  TextSoFar text = text_so_far(job.line, partial, *model_.vocabularies.target, job.options);
  if (text.final_bytes < job.reported.final_bytes || text == job.reported) return false;
  job.reported = std::move(text);
  return true;
}

}  // namespace dragoman::internal
