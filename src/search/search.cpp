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
      ensemble_(models, settings.sentences, width_) {
  for (int64_t i = settings.sentences; i-- > 0;) free_slots_.push_back(static_cast<int32_t>(i));
}

int64_t Search::room() const {
  return static_cast<int64_t>(free_slots_.size()) - static_cast<int64_t>(waiting_.size());
}

void Search::add(uint64_t id, SearchTask task) {
  CHECK(!task.source.empty(), "a sentence of no tokens");
  Sentence& sentence = waiting_.emplace_back(id, std::move(task));
  sentence.beam = first_beam(sentence.task);
}

// The limits of length are the source's own; the prefix comes on top.
Beam Search::first_beam(const SearchTask& task) const {
  const auto prefix = static_cast<int64_t>(task.prefix.size());
  Beam beam = {
      .end = settings_.end,
      .min_length = shortest_output(options_, length_of(task)),
      .max_length = std::min(settings_.longest_output, prefix + longest_output(options_, length_of(task))),
      .prefix = task.prefix,
      .no_repeat_ngram = options_.no_repeat_ngram > 0 ? options_.no_repeat_ngram : task.no_repeat_ngram};
  if (options_.sample) {
    beam.open.resize(static_cast<size_t>(width_));
    reorder(beam, width_);
  }
  return beam;
}

// Sentences come in when a quarter of the places is free, so that the encoder has several to do at once.
void Search::admit() {
  if (waiting_.empty()) return;
  const auto free = static_cast<int64_t>(free_slots_.size());
  if (!active_.empty() && free * 4 < settings_.sentences) return;
  int64_t tokens = 0;
  for (const Sentence& sentence : active_) tokens += length_of(sentence.task);
  const size_t old = active_.size();
  while (!waiting_.empty() && !free_slots_.empty()) {
    const int64_t length = length_of(waiting_.front().task);
    if (settings_.batch_tokens > 0 && !active_.empty() && tokens + length > settings_.batch_tokens) break;
    tokens += length;
    active_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    active_.back().slot = free_slots_.back();
    free_slots_.pop_back();
  }
  encode_sources(std::span(active_).subspan(old));
}

void Search::encode_sources(std::span<Sentence> sentences) {
  if (sentences.empty()) return;
  PackedSide packed;
  std::vector<int32_t> slots;
  for (Sentence& sentence : sentences) {
    const std::vector<int32_t>& ids = sentence.task.source;
    packed.add(ids.data(), ids.data() + ids.size());
    slots.push_back(sentence.slot);
    if (settings_.shortlist != nullptr)
      sentence.allowed = ensemble_.allow(settings_.shortlist->words_for(ids, sentence.task.prefix));
  }
  ensemble_.encode(packed, slots);
}

// A row for each open hypothesis of every sentence.
std::vector<OpenRow> Search::open_rows() const {
  std::vector<OpenRow> rows;
  for (const Sentence& sentence : active_) {
    for (const Hypothesis& h : sentence.beam.open) {
      rows.push_back({.last = h.tokens.empty() ? settings_.start : h.tokens.back(),
                      .length = static_cast<int32_t>(h.tokens.size()),
                      .slot = sentence.slot * static_cast<int32_t>(width_) + h.slot,
                      .source_slot = sentence.slot,
                      .source_length = static_cast<int32_t>(length_of(sentence.task)),
                      .allowed = &sentence.allowed});
    }
  }
  return rows;
}

// The columns of what may follow each open hypothesis: one drawn, or as many of the likeliest as the beam is wide.
std::vector<int32_t> Search::choose(const Tensor& log_probabilities) {
  const Matrix rows = log_probabilities.matrix();
  std::vector<int32_t> drawn;
  int64_t row = 0;
  for (const Sentence& sentence : active_) {
    const std::span<const int32_t> words = sentence.allowed.words;
    const size_t columns = words.empty() ? static_cast<size_t>(rows.columns) : words.size();
    uint64_t sample = 0;
    for (const Hypothesis& h : sentence.beam.open) {
      const NextWords next = {{rows.data + row++ * rows.stride, columns}, words};
      apply_rules(sentence.beam, h, options_, next);
      if (!options_.sample) continue;
      drawn.push_back(draw(next.log_probabilities, options_,
                           draw_key(options_, sentence.task.line, sample++, h.tokens.size())));
    }
  }
  if (options_.sample) return drawn;
  std::vector<int32_t> best(static_cast<size_t>(rows.rows * width_));
  Device& device = ensemble_.device();
  device.kernels.top(device.context, rows, width_, best.data());
  return best;
}

void Search::advance(Sentence& sentence, ConstMatrix log_probabilities, std::span<const int32_t> chosen) {
  const auto length = static_cast<int32_t>(sentence.beam.open.front().tokens.size()) + 1;
  std::vector<Candidate> candidates =
      expand(sentence.beam, log_probabilities, chosen, sentence.allowed.words);
  prune(candidates, width_);
  finish(sentence.beam, candidates, options_);
  std::vector<SlotCopy> copies = reorder(sentence.beam, width_);
  const int32_t first = sentence.slot * static_cast<int32_t>(width_);
  for (SlotCopy& copy : copies) copy = {first + copy.from, first + copy.to, length};
  ensemble_.copy(copies);
}

std::vector<SearchResult> Search::step() {
  admit();
  if (active_.empty()) return {};
  const Tensor log_probabilities = ensemble_.next_log_probabilities(open_rows());
  const std::vector<int32_t> chosen = choose(log_probabilities);
  const size_t per_row = chosen.size() / static_cast<size_t>(log_probabilities.rows());
  int64_t row = 0;
  for (Sentence& sentence : active_) {
    const auto rows = static_cast<int64_t>(sentence.beam.open.size());
    advance(
        sentence, log_probabilities.row_range(row, rows),
        std::span(chosen).subspan(static_cast<size_t>(row) * per_row, static_cast<size_t>(rows) * per_row));
    row += rows;
  }
  return take_finished();
}

std::vector<SearchResult> Search::take_finished() {
  std::vector<SearchResult> results;
  for (Sentence& sentence : active_) {
    if (!sentence.beam.open.empty()) continue;
    results.push_back({sentence.id, std::move(sentence.beam.finished)});
    free_slots_.push_back(sentence.slot);
  }
  std::erase_if(active_, [](const Sentence& sentence) { return sentence.beam.open.empty(); });
  return results;
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
    search.add(i, {.source = {next, end}, .line = i});
    next = end;
  }
  while (search.busy()) {
    for (SearchResult& result : search.step()) results[result.id] = std::move(result.hypotheses);
  }
  return results;
}

}  // namespace dragoman
