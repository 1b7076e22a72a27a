#include "search/translator.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "base/lines.h"
#include "search/repetition.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr int64_t forbidden_ngram = 3;  // where an output looped

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
  std::ranges::stable_sort(hypotheses, {}, [](const ScoredHypothesis& h) {
    return std::tuple(h.hypothesis.terms.missed(), -h.hypothesis.score);
  });
  hypotheses.resize(std::min(hypotheses.size(), static_cast<size_t>(options.nbest)));
  return hypotheses;
}

}  // namespace

SearchSettings search_settings(const SavedModel& model, const BatchLimits& limits) {
  const SpecialTokens& special = model.vocabularies.target->special();
  return {.start = special.start,
          .end = special.end,
          .suppressed = model.vocabularies.target->suppressed(),
          .sentences = limits.sentences,
          .batch_tokens = limits.batch_tokens,
          .max_output_length = model.max_positions - 1};
}

// A request, and what is known of its translation.
struct Translator::Job {
  uint64_t id;
  SearchOptions options;
  bool tokens;                          // whether the result has them
  SearchRequest shared;                 // what the searches of all segments have in common
  std::vector<int32_t> prefix;          // of the first segment's output
  std::vector<SearchTerms> terms = {};  // of each segment, if there are any
  SearchedLine line;
  Deadline deadline = {};
  uint64_t client = 0;
  double next_turn = 0, turn_of_segment = 0;

  struct SegmentSearch {
    uint64_t id = UINT64_MAX;  // of the search; none: the translation was known
    SearchProgress progress;   // where it was asked for
  };
  std::vector<SegmentSearch> searches = {};
  size_t begun = 0;  // the first so many of them are
  size_t unfinished = 0;
  bool moved = false;  // since the last report
  PartialText reported = {};
};

Translator::Translator(SavedModel& model, const BatchLimits& limits)
    : model_(model),
      rows_(limits.sentences * limits.searches),
      reserved_(limits.reserved * limits.searches),
      search_(model.models(), search_settings(model, limits), limits.searches),
      cache_(limits.cache_bytes) {}

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
  Shortlist list = model_.shortlist();
  if (!options.always_allow.empty()) list.allow_words_of(options.always_allow, *model_.vocabularies.target);
  return &shortlists_.emplace(options.always_allow, std::move(list)).first->second;
}

void Translator::place_terms_of(const TranslationRequest& request, Job& job) {
  if (request.terms.empty()) return;
  if (model_.readers.size() == 1 && model_.readers[0].reads_terms) {
    job.line.terms_missed = !add_to_sources(request.terms, job.line.source, model_, job.line.segments);
    return;
  }
  if (!spelling_) spelling_.emplace(model_.vocabularies.target);
  const int64_t layer = alignment_layer(model_.model.config, request.options.alignment_layer);
  PlacedTerms placed = place_terms(request.terms, job.line.source, job.line.segments, layer, *spelling_);
  job.terms = std::move(placed.of_segments);
  job.line.terms_missed = placed.missed;
}

void Translator::add(uint64_t id, const TranslationRequest& request) {
  const SearchOptions& options = request.options;
  const int64_t layer = alignment_layer(model_.model.config, options.alignment_layer);
  const Direction direction = model_.direction(options);
  SearchRequest shared = {.start = direction.start,
                          .options = options,
                          .shortlist = shortlist_for(options),
                          .attention_layer = needs_attention(options) ? layer : 0,
                          .progress = request.progress,
                          .retry_ngram = forbidden_ngram};
  Job job = {.id = id, .options = options, .tokens = request.tokens, .shared = std::move(shared)};
  job.prefix = model_.vocabularies.target->encode(valid_text(request.prefix));
  job.line = {.source = valid_text(request.text), .invalid = !is_text(request.text)};
  job.line.segments = split_line(model_, job.line.source, direction);
  place_terms_of(request, job);
  const size_t segments = job.line.segments.size();
  job.line.hypotheses.resize(segments);
  job.searches.resize(segments);
  job.unfinished = segments;
  job.deadline = request.deadline;
  job.client = request.client;
  job.next_turn = request.turn.start;
  job.turn_of_segment = request.turn.cost / static_cast<double>(std::max<size_t>(segments, 1));
  Job& added = jobs_.insert_or_assign(id, std::move(job)).first->second;
  if (segments == 0) return finish(added);
  if (request.deadline) deadlines_.emplace(*request.deadline, id);
  unbegun_.emplace(request.turn.start, id);
  begin_searches();
}

bool Translator::may_begin(uint64_t client) const {
  const int64_t room = search_.room();
  return room > reserved_ || (room > 0 && !rows_of_.contains(client));
}

// Few are passed over: each has a row, or it would not have been added.
std::set<std::pair<double, uint64_t>>::const_iterator Translator::next_unbegun() const {
  if (!has_free_row()) return unbegun_.end();
  return std::ranges::find_if(unbegun_,
                              [&](const auto& turn) { return may_begin(jobs_.at(turn.second).client); });
}

double Translator::next_turn() const {
  const auto next = next_unbegun();
  return next == unbegun_.end() ? no_turn : next->first;
}

bool Translator::has_room(double start, uint64_t client) const {
  if (!may_begin(client)) return false;
  const double next = next_turn();
  return next == no_turn || start < next;
}

// As many as there is room for: each has a copy of its request, and a long line has many. No more than a batch at once,
// so that those whose translations are known do not keep the others from their next step.
void Translator::begin_searches() {
  for (int64_t left = rows_; left > 0; --left) {
    const auto next = next_unbegun();
    if (next == unbegun_.end()) return;
    Job& job = jobs_.at(next->second);
    unbegun_.erase(next);
    reached_turn_ = std::max(reached_turn_, job.next_turn);
    job.next_turn += job.turn_of_segment;
    const size_t segment = job.begun++;
    if (job.begun < job.searches.size()) unbegun_.emplace(job.next_turn, job.id);
    begin(job, segment);
  }
}

// What is known already may be the last that the job waits for: then it is gone.
void Translator::begin(Job& job, size_t segment) {
  SearchRequest request = request_of(job, segment);
  std::string key = sentence_key(request);
  if (const FoundSentence* found = cache_.find(key)) {
    ++counts_.cache_hits;
    return take(job, segment, *found);
  }
  key += request.progress ? 'p' : '-';
  const auto [equal, first] = by_key_.emplace(key, searches_);
  job.searches[segment].id = equal->second;
  if (!first) {
    ++counts_.merged;
    under_way_.at(equal->second).places.insert({job.id, segment});
    return;
  }
  ++counts_.cache_misses;
  under_way_[searches_] = {.key = std::move(key), .client = job.client, .places = {{job.id, segment}}};
  ++rows_of_[job.client];
  request.options = for_search(request.options);
  request.at_once = search_.room() <= reserved_;
  search_.add(searches_++, std::move(request));
}

SearchRequest Translator::request_of(const Job& job, size_t segment) const {
  SearchRequest request = job.shared;
  request.source = job.line.segments[segment].ids;
  request.other_sources = job.line.segments[segment].other_ids;
  if (segment == 0) request.prefix = job.prefix;
  if (!job.terms.empty()) request.terms = job.terms[segment];
  if (model_.vocabularies.target->special().end < 0) {  // as in training, where the target's start is given
    request.options.max_length = std::clamp<int64_t>(
        std::ssize(request.source) - 1 - std::ssize(request.prefix), 1, request.options.max_length);
    request.options.max_length_ratio = 0;
  }
  return request;
}

void Translator::cancel(uint64_t id) {
  if (const auto job = jobs_.find(id); job != jobs_.end()) end(job->second, SearchStatus::cancelled);
}

// Here and not in the search, where another may wait for the same sentence.
void Translator::expire() {
  if (deadlines_.empty()) return;
  const auto now = std::chrono::steady_clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now)
    end(jobs_.at(deadlines_.begin()->second), SearchStatus::expired);
}

std::vector<TranslationResult> Translator::step() {
  expire();
  begin_searches();
  if (search_.busy()) {
    for (SearchResult& result : search_.step()) receive(std::move(result));
  }
  return std::exchange(ended_, {});
}

// The result may be of a search for which nobody waits any more.
void Translator::receive(SearchResult result) {
  const auto found = under_way_.find(result.id);
  if (found == under_way_.end()) return;
  SharedSearch& search = found->second;
  FoundSentence sentence = {.repeats = search.again};
  if (result.status == SearchStatus::finished) {
    const Place place = *search.places.begin();
    const Job& job = jobs_.at(place.job);
    const std::vector<int32_t>& source = job.line.segments[place.segment].ids;
    sentence.hypotheses = ranked(job.line.segments[place.segment], std::move(result), job.options);
    const std::vector<int32_t>& output = sentence.hypotheses[0].hypothesis.tokens;
    counts_.source_tokens += source.size();
    counts_.target_tokens += output.size();
    sentence.repeats |= is_loop(output, source);
    if (sentence.repeats && !search.again && job.options.no_repeat_ngram == 0)
      return search_again(result.id, search);
  }
  const SharedSearch ended = remove(found);
  for (const Place& place : ended.places) {
    const auto job = jobs_.find(place.job);
    if (job == jobs_.end()) continue;  // another of its places has ended it
    if (result.status == SearchStatus::finished) {
      take(job->second, place.segment, sentence);
    } else {
      end(job->second, result.status);
    }
  }
  if (result.status == SearchStatus::finished)
    cache_.add(ended.key.substr(0, ended.key.size() - 1), sentence);
}

Translator::SharedSearch Translator::remove(std::unordered_map<uint64_t, SharedSearch>::iterator search) {
  SharedSearch removed = std::move(search->second);
  under_way_.erase(search);
  by_key_.erase(removed.key);
  const auto rows = rows_of_.find(removed.client);
  if (--rows->second == 0) rows_of_.erase(rows);
  return removed;
}

// With loops forbidden.
void Translator::search_again(uint64_t id, SharedSearch& search) {
  search.again = true;
  const Place place = *search.places.begin();
  SearchRequest request = request_of(jobs_.at(place.job), place.segment);
  request.options = for_search(request.options);
  request.options.no_repeat_ngram = forbidden_ngram;
  search_.add(id, std::move(request));
}

void Translator::take(Job& job, size_t segment, FoundSentence found) {
  job.line.repeats |= found.repeats;
  job.line.hypotheses[segment] = std::move(found.hypotheses);
  job.moved = true;
  if (--job.unfinished == 0) finish(job);
}

void Translator::finish(Job& job) {
  ended_.push_back(
      {.id = job.id, .line = translated_line(job.line, model_.vocabularies, job.options, job.tokens)});
  forget(job);
}

// Before all of its segments are finished. A search goes on if others wait for it, too.
void Translator::end(Job& job, SearchStatus status) {
  for (size_t segment = 0; segment < job.begun; ++segment) {
    const auto found = under_way_.find(job.searches[segment].id);
    if (found == under_way_.end()) continue;
    found->second.places.erase({job.id, segment});
    if (!found->second.places.empty()) continue;
    search_.cancel(found->first);
    remove(found);
  }
  ended_.push_back({.id = job.id, .status = status});
  if (status == SearchStatus::failed) ended_.back().error = not_finite_message(model_);
  forget(job);
}

void Translator::forget(Job& job) {
  unbegun_.erase({job.next_turn, job.id});
  if (job.deadline) deadlines_.erase({*job.deadline, job.id});
  jobs_.erase(job.id);
}

std::vector<TranslationProgress> Translator::progress() {
  for (const SearchProgress& progress : search_.progress()) {
    const auto found = under_way_.find(progress.id);
    if (found == under_way_.end()) continue;
    for (const Place& place : found->second.places) {
      Job& job = jobs_.at(place.job);
      job.searches[place.segment].progress = progress;
      job.moved = true;
    }
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
  PartialText text = partial_text(job.line, partial, *model_.vocabularies.target, job.options);
  if (text.final_bytes < job.reported.final_bytes || text == job.reported) return false;
  job.reported = std::move(text);
  return true;
}

}  // namespace dragoman::internal
