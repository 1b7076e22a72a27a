#include "search/translator.h"

#include <algorithm>

#include "search/repetition.h"
#include "text/lines.h"
#include "text/unicode.h"

namespace dragoman {
namespace {

constexpr int64_t lines_per_sentence =
    16;                                 // lines that may wait for one before them, for each sentence at once
constexpr int64_t forbidden_ngram = 3;  // where an output looped

bool has_unknown(std::span<const int32_t> ids) { return std::ranges::find(ids, unknown_id) != ids.end(); }

std::optional<Shortlist> read_shortlist(const SavedModel& model, const SearchOptions& options) {
  if (!options.shortlist) return std::nullopt;
  Shortlist list = Shortlist::read(model.folder, model.vocabularies);
  if (!options.always_allow.empty()) list.allow_words_of(options.always_allow, *model.vocabularies.target);
  return list;
}

SearchSettings search_settings(const SavedModel& model, const std::optional<Shortlist>& shortlist,
                               int64_t sentences, int64_t batch_tokens) {
  return {.start = bos_id,
          .end = eos_id,
          .sentences = sentences,
          .batch_tokens = batch_tokens,
          .longest_output = model.max_positions - 1,
          .shortlist = shortlist ? &*shortlist : nullptr};
}

void replace_line_ends(std::string& text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\r', ' ');
}

}  // namespace

// A line, and what is known of its translation.
struct Translator::Job {
  std::string key, source;
  bool invalid = false, repeats = false;
  uint64_t line = 0;
  std::vector<int32_t> prefix;
  std::vector<Part> parts;
  std::vector<std::vector<Hypothesis>> found;  // for each part
  size_t unfinished = 0;

  SearchTask task(size_t part) const {
    return {.source = parts[part].ids,
            .prefix = part == 0 ? prefix : std::vector<int32_t>(),
            .line = line + (static_cast<uint64_t>(part) << 40)};
  }
};

Translator::Translator(SavedModel& model, const SearchOptions& options, int64_t sentences,
                       int64_t batch_tokens)
    : model_(model),
      options_(options),
      most_lines_(lines_per_sentence * sentences),
      shortlist_(read_shortlist(model, options)),
      search_(model.models(), options, search_settings(model, shortlist_, sentences, batch_tokens)) {}

bool Translator::has_room() const {
  return search_.room() > 0 && static_cast<int64_t>(lines_.size()) < most_lines_;
}

void Translator::add(std::string_view line, std::string_view prefix) {
  auto job = std::make_shared<Job>();
  job->line = lines_added_++;
  job->key = std::string(prefix) + '\n' + std::string(line);
  if (const auto same = same_.find(job->key); same != same_.end() && !options_.sample) {
    if (auto other = same->second.lock()) return lines_.push_back(std::move(other));
  }
  job->invalid = !is_text(line);
  job->source = job->invalid ? repaired(line) : std::string(line);
  job->prefix = model_.vocabularies.target->encode(prefix);
  same_[job->key] = job;
  lines_.push_back(job);
  start(job);
}

void Translator::start(const std::shared_ptr<Job>& job) {
  job->parts = split_line(model_, job->source);
  job->unfinished = job->parts.size();
  job->found.resize(job->parts.size());
  for (size_t part = 0; part < job->parts.size(); ++part) {
    searched_[searches_] = {job, part};
    search_.add(searches_++, job->task(part));
  }
}

void Translator::step() {
  for (SearchResult& result : search_.step()) {
    const Place place = searched_.extract(result.id).mapped();
    receive(place, std::move(result.hypotheses));
  }
}

void Translator::receive(const Place& place, std::vector<Hypothesis> hypotheses) {
  Job& job = *place.job;
  const bool again = !job.found[place.part].empty();
  const bool loops = is_loop(hypotheses[0].tokens, job.parts[place.part].ids);
  job.found[place.part] = std::move(hypotheses);
  if (loops && !again && options_.no_repeat_ngram == 0) {
    job.repeats = true;
    SearchTask task = job.task(place.part);
    task.no_repeat_ngram = forbidden_ngram;
    searched_[searches_] = place;
    search_.add(searches_++, std::move(task));
  } else {
    job.repeats |= loops;
    --job.unfinished;
  }
}

std::optional<TranslatedLine> Translator::take() {
  if (lines_.empty() || lines_.front()->unfinished > 0) return std::nullopt;
  const std::shared_ptr<Job> job = std::move(lines_.front());
  lines_.pop_front();
  if (job.use_count() == 1) same_.erase(job->key);
  return translated(*job);
}

// The translation of this rank: of each part the hypothesis of this rank, or its last one.
Translation Translator::joined(const Job& job, size_t rank) const {
  const Vocabulary& vocabulary = *model_.vocabularies.target;
  Translation all;
  for (size_t part = 0; part < job.parts.size(); ++part) {
    const auto& found = job.found[part];
    const Hypothesis& h = found[std::min(rank, found.size() - 1)];
    all.text += vocabulary.decode(h.tokens) + job.parts[part].space;
    all.score += h.score;
    for (size_t i = 0; i < h.tokens.size(); ++i)
      all.pieces.push_back({vocabulary.piece(h.tokens[i]), h.log_probabilities[i]});
  }
  replace_line_ends(all.text);
  return all;
}

TranslatedLine Translator::translated(const Job& job) const {
  TranslatedLine line = {.source = job.source, .invalid = job.invalid, .repeats = job.repeats};
  size_t ranks = 1;
  for (size_t part = 0; part < job.parts.size(); ++part) {
    const Hypothesis& best = job.found[part][0];
    ranks = std::max(ranks, job.found[part].size());
    line.cut |= job.parts[part].cut || best.cut;
    line.unknown |= has_unknown(job.parts[part].ids) || has_unknown(best.tokens);
  }
  line.translations = {joined(job, 0)};
  for (size_t rank = 1; rank < ranks; ++rank) {
    Translation next = joined(job, rank);
    if (!std::ranges::count(line.translations, next.text, &Translation::text))
      line.translations.push_back(std::move(next));
  }
  return line;
}

}  // namespace dragoman
