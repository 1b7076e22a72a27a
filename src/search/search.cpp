#include "search/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "search/beam/sampling.h"
#include "search/given_terms.h"

namespace dragoman::internal {
namespace {

int64_t length_of(const SearchRequest& request) { return static_cast<int64_t>(request.source.size()); }

// Where the beam has terms that can be written.
void cover_source(const Beam& beam, SearchRequest& request) {
  SearchOptions& options = request.options;
  const bool has_terms = beam.terms.count_without_forms() < beam.terms.all.size();
  if (!has_terms || options.sample || options.beam == 1 || options.coverage_penalty > 0) return;
  options.coverage_penalty = term_coverage;
  request.attention_layer = request.terms.attention_layer;
}

}  // namespace

Search::Search(const Models& models, const SearchSettings& settings, const Fusion& fusion)
    : settings_(settings),
      ensemble_(models, fusion),
      neighbours_(ensemble_, settings.end),
      source_rows_(models.size()) {}

bool Search::fits(const SearchRequest& request) const {
  if (active_.empty()) return true;
  if (free_rows() <= 0 || settings_.batch_tokens == 0) return free_rows() > 0;
  int64_t tokens = length_of(request);
  for (const Sentence& sentence : active_) tokens += length_of(sentence.request);
  return tokens <= settings_.batch_tokens;
}

void Search::add(uint64_t id, SearchRequest request) {
  CHECK(!request.source.empty(), "a sentence of no tokens");
  CHECK(request.neighbours.empty() || (settings_.end >= 0 && !ensemble_.is_language_model(0)),
        "neighbours without sources, or without ends");
  CHECK(request.terms.all.empty() || request.attention_layer == 0 ||
            request.attention_layer == request.terms.attention_layer,
        "terms and alignment by two layers");
  CHECK(request.options.coverage_penalty == 0 || request.attention_layer > 0, "coverage without attention");
  for (const SearchTerm& term : request.terms.all)
    CHECK(term.begin < term.end && term.end <= request.source.size(), "a term outside of its source");
  CHECK(fits(request), "a batch of {} sentences has no room for another", active_.size());
  Beam beam = first_beam(request);
  cover_source(beam, request);
  const auto nbest = static_cast<size_t>(request.options.nbest);
  if (request.options.coverage_penalty > 0) request.options.nbest = request.options.beam;
  Sentence& sentence =
      active_.emplace_back(Sentence{.id = id, .request = std::move(request), .nbest = nbest});
  sentence.beam = std::move(beam);
  sentence.key = source_key(sentence.request.source);
}

const StartTokens& Search::start_of(const SearchRequest& request) const {
  return request.start ? *request.start : settings_.start;
}

// The limits of length are the source's own; the prefix comes on top, for language models of the minimum, too.
Beam Search::first_beam(const SearchRequest& request) const {
  const SearchOptions& options = request.options;
  const auto prefix = static_cast<int64_t>(request.prefix.size()),
             forced_length = static_cast<int64_t>(start_of(request).forced_length());
  Beam beam = {.end = settings_.end,
               .min_length = (ensemble_.is_language_model(0) ? prefix : 0) +
                             min_output_length(options, length_of(request)),
               .max_length = std::min(settings_.max_output_length - forced_length,
                                      prefix + max_output_length(options, length_of(request))),
               .forced_length = forced_length,
               .prefix = request.prefix,
               .no_repeat_ngram = options.no_repeat_ngram,
               .suppressed = settings_.suppressed,
               .terms = request.terms,
               .source_length = length_of(request),
               .term_costs = std::vector<double>(request.terms.all.size())};
  if (request.forbidden >= 0) beam.suppressed.push_back(request.forbidden);
  beam.terms.drop_too_long(beam.max_length - prefix);
  beam.open[0].terms.states.resize(request.terms.all.size());
  if (options.sample) beam.open.assign(static_cast<size_t>(beam_width(options)), Hypothesis(beam.open[0]));
  return beam;
}

void Search::remove(uint64_t id) {
  const auto found = std::ranges::find(active_, id, &Sentence::id);
  if (found == active_.end()) return;
  if (found < active_.begin() + static_cast<std::ptrdiff_t>(encoded_)) --encoded_;
  release(*found);
  active_.erase(found);
}

// Returns what shows for each model whether it computed finite values: the host reads it later, since that waits.
std::vector<Tensor> Search::encode_new_sources() {
  const std::span<Sentence> sentences = std::span(active_).subspan(std::exchange(encoded_, active_.size()));
  if (sentences.empty()) return {};
  std::vector<Tensor> zeros(source_rows_.size());
  for (size_t model = 0; model < source_rows_.size(); ++model) {
    PackedSide packed;
    std::vector<int32_t> rows;
    for (Sentence& sentence : sentences) {
      std::vector<int32_t>& own = sentence.source_rows.emplace_back();
      if (ensemble_.is_language_model(model)) continue;
      const std::vector<int32_t>& ids = sentence.request.source_of(model);
      packed.add(ids.data(), ids.data() + ids.size());
      for (size_t i = 0; i < ids.size(); ++i) own.push_back(source_rows_[model].take());
      rows.insert(rows.end(), own.begin(), own.end());
    }
    if (!rows.empty()) zeros[model] = ensemble_.encode(model, packed, rows);
  }
  for (Sentence& sentence : sentences) allow_words(sentence);
  open_neighbours(sentences);
  return zeros;
}

// From this sentence on.
void Search::fail_where_not_finite(size_t first_sentence, std::span<const Tensor> of_models) {
  for (size_t model = 0; model < of_models.size(); ++model) {
    if (!of_models[model]) continue;
    const HostView<const float> zeros = of_models[model].values();
    std::span<const float> left = zeros.span();
    for (Sentence& sentence : std::span(active_).subspan(first_sentence)) {
      const size_t tokens = sentence.source_rows[model].size();
      sentence.failed |= std::ranges::any_of(left.first(tokens), [](float x) { return std::isnan(x); });
      left = left.subspan(tokens);
    }
  }
}

void Search::open_neighbours(std::span<Sentence> sentences) {
  for (Sentence& sentence : sentences) {
    const SearchRequest& request = sentence.request;
    sentence.known = neighbours_.open(request.neighbours, start_of(request), sentence.allowed.words);
  }
  neighbours_.compute();
}

void Search::allow_words(Sentence& sentence) const {
  const SearchRequest& request = sentence.request;
  if (request.shortlist == nullptr) return;
  std::vector<int32_t> further = request.prefix;
  for (const Neighbour& neighbour : request.neighbours)
    further.insert(further.end(), neighbour.target.begin(), neighbour.target.end());
  for (const SearchTerm& term : request.terms.all) {
    for (const TermForm& form : term.forms)
      further.insert(further.end(), form.tokens.begin(), form.tokens.end());
  }
  sentence.allowed = ensemble_.allow(request.shortlist->words_for(request.source, further));
}

std::vector<Candidate> Search::best_candidates(Sentence& sentence, std::span<const Element> next) {
  const SearchOptions& options = sentence.request.options;
  const bool with_terms = !sentence.beam.terms.all.empty(), single = options.sample || options.beam == 1;
  const std::span<const int32_t> words = sentence.allowed.words;
  std::vector<Candidate> candidates =
      with_terms ? expand_with_terms(sentence.beam, next, sentence.choices, words, single)
                 : expand(sentence.beam, next, words);
  if (with_terms && !single) {
    prune_with_terms(sentence.beam, candidates, options);
  } else {
    prune(candidates, candidate_count(options));
  }
  return candidates;
}

// Nothing is chosen before the last of the start tokens has been read.
void Search::advance(Sentence& sentence, std::span<const Element> next) {
  if (ensemble_.reads_newest_rows_only())
    for (Hypothesis& h : sentence.beam.open) release_all_but_newest(h);
  if (++sentence.tokens_read < start_of(sentence.request).size()) return;
  const SearchOptions& options = sentence.request.options;
  std::vector<int32_t> before;
  for (const Hypothesis& h : sentence.beam.open) before.insert(before.end(), h.rows.begin(), h.rows.end());
  std::vector<Candidate> candidates = best_candidates(sentence, next);
  finish(sentence.beam, candidates, options);
  reorder(sentence.beam, before, rows_);
  if (sentence.request.progress)
    sentence.final_prefix.update(sentence.beam, options, sentence.request.retry_ngram);
}

void Search::release_all_but_newest(Hypothesis& hypothesis) {
  rows_.release(std::span(hypothesis.rows).first(hypothesis.rows.size() - 1));
  hypothesis.rows = {hypothesis.rows.back()};
}

// Puts back all rows of the caches that it still has.
void Search::release(Sentence& sentence) {
  for (const Hypothesis& h : sentence.beam.open) rows_.release(h.rows);
  for (size_t model = 0; model < sentence.source_rows.size(); ++model)
    source_rows_[model].release(sentence.source_rows[model]);
  neighbours_.release(sentence.known);
}

// With loops forbidden, in the same row, where that has been asked for and not been done.
bool Search::search_again(Sentence& sentence) {
  SearchRequest& request = sentence.request;
  if (sentence.repeats || request.retry_ngram == 0 || request.options.no_repeat_ngram > 0) return false;
  sentence.repeats = true;
  request.options.no_repeat_ngram = request.retry_ngram;
  sentence.beam = first_beam(request);
  sentence.tokens_read = 0;
  sentence.final_prefix = {};
  return true;
}

std::vector<SearchResult> Search::take_ended() {
  std::vector<SearchResult> results;
  for (Sentence& sentence : active_) {
    if (!sentence.ended()) continue;
    SearchResult result = {.id = sentence.id, .failed = sentence.failed};
    if (!sentence.failed)
      result.found = found_sentence(std::move(sentence.beam.finished), sentence.request, sentence.nbest);
    if (result.found.repeats && search_again(sentence)) continue;
    result.found.repeats |= sentence.repeats;
    release(sentence);
    results.push_back(std::move(result));
  }
  std::erase_if(active_, [](const Sentence& sentence) { return sentence.ended(); });
  encoded_ = active_.size();
  return results;
}

std::vector<SearchProgress> Search::progress() const {
  std::vector<SearchProgress> all;
  for (const Sentence& sentence : active_) {
    if (!sentence.request.progress) continue;
    if (const Hypothesis* best = leading(sentence.beam, sentence.request.options))
      all.push_back({sentence.id, best->tokens, sentence.final_prefix.tokens()});
  }
  return all;
}

int64_t Search::cache_rows_in_use() const {
  int64_t rows = rows_.in_use();
  for (const CacheRows& of_model : source_rows_) rows += of_model.in_use();
  return rows;
}

}  // namespace dragoman::internal
