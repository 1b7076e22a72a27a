#include "search/search.h"

#include <algorithm>

#include "base/error.h"
#include "search/rules.h"
#include "search/sampling.h"

namespace dragoman {
namespace {

int64_t length_of(const SearchTask& task) { return static_cast<int64_t>(task.source.size()); }

}  // namespace

Search::Search(const Models& models, const SearchOptions& options, const SearchSettings& settings)
    : options_(options),
      settings_(settings),
      width_(beam_width(options)),
      first_(*models[0]),
      ensemble_(models),
      source_rows_(models.size()) {}

int64_t Search::room() const { return settings_.sentences - std::ssize(active_) - std::ssize(waiting_); }

void Search::add(uint64_t id, SearchTask task) {
  CHECK(!task.source.empty(), "a sentence of no tokens");
  Sentence& sentence = waiting_.emplace_back(id, std::move(task));
  sentence.beam = first_beam(sentence.task);
  sentence.key = source_key(sentence.task.source);
}

// The limits of length are the source's own; the prefix comes on top.
Beam Search::first_beam(const SearchTask& task) const {
  const auto prefix = static_cast<int64_t>(task.prefix.size());
  Beam beam = {
      .end = settings_.end,
      .min_length = min_output_length(options_, length_of(task)),
      .max_length =
          std::min(settings_.max_output_length, prefix + max_output_length(options_, length_of(task))),
      .prefix = task.prefix,
      .no_repeat_ngram = options_.no_repeat_ngram > 0 ? options_.no_repeat_ngram : task.no_repeat_ngram};
  if (options_.sample) beam.open.resize(static_cast<size_t>(width_));
  return beam;
}

// Sentences come in when a quarter of the places is free, so that the encoder has several to do at once.
void Search::admit() {
  if (waiting_.empty()) return;
  const int64_t free = settings_.sentences - std::ssize(active_);
  if (!active_.empty() && free * 4 < settings_.sentences) return;
  int64_t tokens = 0;
  for (const Sentence& sentence : active_) tokens += length_of(sentence.task);
  const size_t old = active_.size();
  while (!waiting_.empty() && std::ssize(active_) < settings_.sentences) {
    const int64_t length = length_of(waiting_.front().task);
    if (settings_.batch_tokens > 0 && !active_.empty() && tokens + length > settings_.batch_tokens) break;
    tokens += length;
    active_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  encode_sources(std::span(active_).subspan(old));
}

void Search::encode_sources(std::span<Sentence> sentences) {
  if (sentences.empty()) return;
  for (size_t model = 0; model < source_rows_.size(); ++model) {
    PackedSide packed;
    std::vector<int32_t> rows;
    for (Sentence& sentence : sentences) {
      const std::vector<int32_t>& ids = sentence.task.source_of(model);
      packed.add(ids.data(), ids.data() + ids.size());
      std::vector<int32_t>& own = sentence.source_rows.emplace_back();
      for (size_t i = 0; i < ids.size(); ++i) own.push_back(source_rows_[model].take());
      rows.insert(rows.end(), own.begin(), own.end());
    }
    ensemble_.encode(model, packed, rows);
  }
  if (settings_.shortlist == nullptr) return;
  for (Sentence& sentence : sentences) {
    const SearchTask& task = sentence.task;
    sentence.allowed = ensemble_.allow(settings_.shortlist->words_for(task.source, task.prefix));
  }
}

// Each open hypothesis of every sentence, with a row of its own for its newest token.
std::vector<OpenRow> Search::open_rows() {
  std::vector<OpenRow> rows;
  for (Sentence& sentence : active_) {
    for (Hypothesis& h : sentence.beam.open) {
      h.rows.push_back(rows_.take());
      rows.push_back({.last = h.tokens.empty() ? settings_.start : h.tokens.back(),
                      .rows = h.rows,
                      .source_rows = sentence.source_rows,
                      .allowed = &sentence.allowed});
    }
  }
  return rows;
}

// Whether something looks at the log-probabilities of all words, and not at those of the likeliest alone: a sample, or
// a rule that is in force after one of the open hypotheses.
bool Search::needs_all_words() const {
  const auto ruled = [&](const Sentence& sentence) {
    return std::ranges::any_of(sentence.beam.open,
                               [&](const Hypothesis& h) { return has_rules(sentence.beam, h, options_); });
  };
  return options_.sample || std::ranges::any_of(active_, ruled);
}

// What may follow each open hypothesis: one drawn, or as many of the likeliest as the beam is wide.
std::vector<Element> Search::choose(std::span<const OpenRow> open) {
  if (!needs_all_words()) return ensemble_.top_next(open, width_);
  const Tensor log_probabilities = ensemble_.next_log_probabilities(open);
  const std::vector<Element> drawn = apply_rules_and_draw(log_probabilities);
  if (options_.sample) return drawn;
  Device& device = ensemble_.device();
  const Array<Element> likeliest(device.pool, std::ssize(open) * width_);
  device.kernels.top(device.context, log_probabilities, width_, likeliest.data());
  return likeliest.download();
}

// Applies the rules to each row, and draws from it if the search samples.
std::vector<Element> Search::apply_rules_and_draw(const Tensor& log_probabilities) const {
  const HostView<float> values = log_probabilities.writable_values();
  float* row = values.data();
  std::vector<Element> drawn;
  for (const Sentence& sentence : active_) {
    const std::span<const int32_t> words = sentence.allowed.words;
    const size_t columns = words.empty() ? static_cast<size_t>(log_probabilities.columns()) : words.size();
    uint64_t sample = 0;
    for (const Hypothesis& h : sentence.beam.open) {
      const NextWords next = {{row, columns}, words};
      row += log_probabilities.columns();
      apply_rules(sentence.beam, h, options_, next);
      if (!options_.sample) continue;
      drawn.push_back(draw(next.log_probabilities, options_,
                           draw_key(options_, sentence.key, sample++, h.tokens.size())));
    }
  }
  return drawn;
}

void Search::advance(Sentence& sentence, std::span<const Element> next) {
  std::vector<int32_t> before;
  for (const Hypothesis& h : sentence.beam.open) before.insert(before.end(), h.rows.begin(), h.rows.end());
  std::vector<Candidate> candidates = expand(sentence.beam, next, sentence.allowed.words);
  prune(candidates, width_);
  finish(sentence.beam, candidates, options_);
  reorder(sentence.beam, before, rows_);
}

std::vector<SearchResult> Search::step() {
  admit();
  if (active_.empty()) return {};
  const std::vector<Element> chosen = choose(open_rows());
  const size_t for_each = options_.sample ? 1 : static_cast<size_t>(width_);
  size_t first = 0;
  for (Sentence& sentence : active_) {
    const size_t count = sentence.beam.open.size() * for_each;
    advance(sentence, std::span(chosen).subspan(first, count));
    first += count;
  }
  return take_finished();
}

std::vector<SearchResult> Search::take_finished() {
  std::vector<SearchResult> results;
  for (Sentence& sentence : active_) {
    if (!sentence.beam.open.empty()) continue;
    SearchResult& result = results.emplace_back(sentence.id, std::move(sentence.beam.finished));
    if (settings_.attention_layer > 0) result.attention = look_back(sentence.task, result.hypotheses);
    for (size_t model = 0; model < source_rows_.size(); ++model)
      source_rows_[model].release(sentence.source_rows[model]);
  }
  std::erase_if(active_, [](const Sentence& sentence) { return sentence.beam.open.empty(); });
  return results;
}

// What finished hypotheses attended to.
std::vector<AttentionRows> Search::look_back(const SearchTask& task,
                                             const std::vector<Hypothesis>& hypotheses) {
  PackedSide sources, targets;
  for (const Hypothesis& h : hypotheses) {
    sources.add(task.source.data(), task.source.data() + task.source.size());
    targets.add(h.tokens.data(), h.tokens.data() + h.tokens.size());
  }
  return attention_rows(first_, sources, targets, settings_.start, settings_.attention_layer);
}

std::vector<std::vector<Hypothesis>> search_all(Transformer& model, const PackedSide& sources,
                                                const SearchOptions& options,
                                                const SearchSettings& settings) {
  std::vector<std::vector<Hypothesis>> results(sources.lengths.size());
  if (results.empty()) return results;
  Search search({&model}, options, settings);
  const int32_t* next = sources.ids.data();
  for (size_t i = 0; i < results.size(); ++i) {
    const int32_t* end = next + sources.lengths[i];
    search.add(i, {.source = {next, end}});
    next = end;
  }
  while (search.busy()) {
    for (SearchResult& result : search.step()) results[result.id] = std::move(result.hypotheses);
  }
  return results;
}

}  // namespace dragoman
