#include "search/search.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "search/beam/rules.h"
#include "search/beam/sampling.h"
#include "search/given_terms.h"

namespace dragoman::internal {
namespace {

int64_t length_of(const SearchRequest& request) { return static_cast<int64_t>(request.source.size()); }

enum class Choice {
  top,       // the most probable, whatever the other words are
  by_rules,  // the most probable, after rules that look at all words: the host waits for these, and for the best
  with_terms,  // the same, and terms that the output has
  drawn,       // by the host, from all words
};

}  // namespace

// Sentences whose rows go through a step together, one after the other.
struct Search::Group {
  bool shortlisted;
  Choice choice;
  size_t count;  // words chosen for each row
  std::vector<Sentence*> sentences = {};
  size_t first_row = 0, rows = 0;
  size_t first_choice = 0;  // of all rows' choices, which follow one another

  size_t choices() const { return rows * count; }
  auto kind() const { return std::tuple(shortlisted, choice, count); }
};

namespace {

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

Search::Group Search::group_of(const Sentence& sentence) {
  const SearchOptions& options = sentence.request.options;
  const bool shortlisted = sentence.request.shortlist != nullptr;
  if (options.sample) return {shortlisted, Choice::drawn, 1};
  const size_t count = static_cast<size_t>(candidate_count(options)) + left_out(sentence.beam);
  if (!sentence.beam.terms.all.empty())
    return {shortlisted, Choice::with_terms, count + 1};  // the end mark, too
  const bool ruled = std::ranges::any_of(
      sentence.beam.open, [&](const Hypothesis& h) { return has_rules(sentence.beam, h, options); });
  return {shortlisted, ruled ? Choice::by_rules : Choice::top, count};
}

// Each group has kernel calls of its own: in a uniform batch there is one. Those with a shortlist come last.
std::vector<Search::Group> Search::groups() {
  std::vector<Group> groups;
  for (Sentence& sentence : active_) {
    Group group = group_of(sentence);
    auto place = std::ranges::lower_bound(groups, group.kind(), {}, &Group::kind);
    if (place == groups.end() || place->kind() != group.kind())
      place = groups.insert(place, std::move(group));
    place->sentences.push_back(&sentence);
  }
  return groups;
}

// Each open hypothesis of every sentence, with a row of its own for its newest token.
std::vector<OpenRow> Search::open_rows(std::span<Group> groups) {
  std::vector<OpenRow> rows;
  size_t choices = 0;
  for (Group& group : groups) {
    group.first_row = rows.size();
    group.first_choice = choices;
    for (Sentence* sentence : group.sentences) {
      const StartTokens& start = start_of(sentence->request);
      const size_t read = sentence->tokens_read;
      for (Hypothesis& h : sentence->beam.open) {
        h.rows.push_back(rows_.take());
        const bool for_terms = wants_attention(sentence->beam, h);
        rows.push_back({.last = read < start.size() ? start[read] : h.tokens.back(),
                        .position = static_cast<int32_t>(read),
                        .rows = h.rows,
                        .source_rows = sentence->source_rows,
                        .allowed = &sentence->allowed,
                        .attention_layer = for_terms ? sentence->beam.terms.attention_layer
                                                     : sentence->request.attention_layer,
                        .known = sentence->known.rows.empty() ? nullptr : &sentence->known});
      }
    }
    group.rows = rows.size() - group.first_row;
    choices += group.choices();
  }
  return rows;
}

void Search::ask_for_best(const Group& group, NextScores& scores, Element* best) {
  const auto count = static_cast<int64_t>(group.count);
  if (group.choice == Choice::top) return scores.top(group.first_row, group.rows, count, best);
  const Tensor log_probabilities = scores.log_probabilities(group.first_row, group.rows);
  apply_rules_and_draw(group, scores, log_probabilities);
  Device& device = ensemble_.device();
  device.kernels.top(device.context, log_probabilities, count, best);
}

// What may follow each open hypothesis, group after group. The host waits once for the best of all groups.
std::vector<Element> Search::choose(std::span<const Group> groups, NextScores& scores) {
  const Group& last = groups.back();
  const Array<Element> best(ensemble_.device().pool,
                            static_cast<int64_t>(last.first_choice + last.choices()));
  std::vector<Element> next;
  const auto draws = [](const Group& group) { return group.choice == Choice::drawn; };
  for (const Group& group : groups)
    if (!draws(group)) ask_for_best(group, scores, best.data() + group.first_choice);
  if (!std::ranges::all_of(groups, draws)) next = best.download();
  next.resize(static_cast<size_t>(best.size()));
  for (const Group& group : groups) {
    if (!draws(group)) continue;
    const Tensor log_probabilities = scores.log_probabilities(group.first_row, group.rows);
    std::ranges::copy(apply_rules_and_draw(group, scores, log_probabilities),
                      next.begin() + static_cast<std::ptrdiff_t>(group.first_choice));
  }
  return next;
}

// Of the rows that read the last start token, or a token of the output: what comes next attends to that.
void Search::keep_attention(const Group& group, NextScores& scores) {
  size_t row = group.first_row;
  for (Sentence* sentence : group.sentences) {
    const SearchRequest& request = sentence->request;
    const bool wanted = request.attention_layer > 0 && sentence->tokens_read + 1 >= start_of(request).size();
    for (Hypothesis& h : sentence->beam.open) {
      if (wanted) h.attention.push_back(std::make_shared<const std::vector<float>>(scores.attention(row)));
      ++row;
    }
  }
}

void Search::consider_terms(Sentence& sentence, const Hypothesis& hypothesis, NextScores& scores, size_t row,
                            const NextWords& next) {
  std::vector<float> attention;
  if (wants_attention(sentence.beam, hypothesis)) attention = scores.attention(row);
  sentence.choices.push_back(
      term_choices(sentence.beam, hypothesis, sentence.request.source, attention, next));
}

// One for each row where they are drawn, else none.
std::vector<Element> Search::apply_rules_and_draw(const Group& group, NextScores& scores,
                                                  const Tensor& log_probabilities) {
  HostView<float> values = log_probabilities.writable_values();
  float* row = values.data();
  size_t number = group.first_row;
  std::vector<Element> drawn;
  for (Sentence* sentence : group.sentences) {
    const SearchOptions& options = sentence->request.options;
    const std::span<const int32_t> words = sentence->allowed.words;
    const size_t columns = words.empty() ? static_cast<size_t>(log_probabilities.columns()) : words.size();
    uint64_t sample = 0;
    sentence->choices.clear();
    for (const Hypothesis& h : sentence->beam.open) {
      const NextWords next = {{row, columns}, words};
      row += log_probabilities.columns();
      sentence->failed |= !has_finite(next.log_probabilities);
      if (!sentence->beam.terms.all.empty()) consider_terms(*sentence, h, scores, number, next);
      ++number;
      apply_rules(sentence->beam, h, options, next);
      if (group.choice != Choice::drawn) continue;
      drawn.push_back(
          draw(next.log_probabilities, options, draw_key(options, sentence->key, sample++, h.tokens.size())));
    }
  }
  if (group.choice == Choice::drawn) values.discard();
  return drawn;
}

// A sentence fails if the model computes no finite number for what may follow.
void Search::advance(const Group& group, std::span<const Element> next) {
  next = next.subspan(group.first_choice);
  for (Sentence* sentence : group.sentences) {
    const size_t count = sentence->beam.open.size() * group.count;
    for (size_t i = 0; group.choice == Choice::top && i < count; i += group.count)
      sentence->failed |= next[i].column < 0;
    if (!sentence->failed) advance(*sentence, next.first(count));
    next = next.subspan(count);
  }
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

std::vector<SearchResult> Search::step() {
  const size_t first_new = encoded_;
  const std::vector<Tensor> zeros = encode_new_sources();
  if (!active_.empty()) {
    std::vector<Group> all = groups();
    NextScores scores = ensemble_.next(open_rows(all));
    const std::vector<Element> next = choose(all, scores);
    fail_where_not_finite(first_new, zeros);
    for (const Group& group : all) {
      keep_attention(group, scores);
      advance(group, next);
    }
  }
  return take_ended();
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
