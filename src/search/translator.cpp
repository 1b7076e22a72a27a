#include "search/translator.h"

#include <algorithm>

#include "base/lines.h"
#include "search/repetition.h"
#include "text/unicode.h"

namespace dragoman {
namespace {

constexpr int64_t lines_per_sentence =
    16;                                 // lines that may wait for one before them, for each sentence at once
constexpr int64_t forbidden_ngram = 3;  // where an output looped

bool has_unknown(std::span<const int32_t> ids, const Vocabulary& vocabulary) {
  return std::ranges::find(ids, vocabulary.special().unknown) != ids.end();
}

std::optional<Shortlist> read_shortlist(const SavedModel& model, const SearchOptions& options) {
  if (!options.shortlist) return std::nullopt;
  Shortlist list = Shortlist::read(model.folder, model.vocabularies);
  if (!options.always_allow.empty()) list.allow_words_of(options.always_allow, *model.vocabularies.target);
  return list;
}

SearchSettings search_settings(const SavedModel& model, const std::optional<Shortlist>& shortlist,
                               const SearchOptions& options, const BatchLimits& limits) {
  const int64_t layer = alignment_layer(model.model.config, options.alignment_layer);
  const SpecialTokens& special = model.vocabularies.target->special();
  return {.start = special.start,
          .end = special.end,
          .sentences = limits.sentences,
          .batch_tokens = limits.batch_tokens,
          .max_output_length = model.max_positions - 1,
          .shortlist = shortlist ? &*shortlist : nullptr,
          .attention_layer = needs_attention(options) ? layer : 0};
}

// With a coverage penalty the Translator chooses among all that the beam has finished.
SearchOptions for_search(SearchOptions options) {
  if (options.coverage_penalty > 0) options.nbest = options.beam;
  return options;
}

}  // namespace

// A line, and what is known of its translation.
struct Translator::Job {
  std::string key, source;
  bool invalid = false, repeats = false;
  std::vector<int32_t> prefix;
  std::vector<Segment> parts;
  std::vector<std::vector<ScoredHypothesis>> found;  // for each part
  size_t unfinished = 0;

  SearchTask task(size_t part) const {
    return {.source = parts[part].ids,
            .other_sources = parts[part].other_ids,
            .prefix = part == 0 ? prefix : std::vector<int32_t>()};
  }
};

Translator::Translator(SavedModel& model, const SearchOptions& options, const BatchLimits& limits)
    : model_(model),
      options_(options),
      max_lines_(lines_per_sentence * limits.sentences * limits.searches),
      shortlist_(read_shortlist(model, options)),
      search_(model.models(), for_search(options), search_settings(model, shortlist_, options, limits),
              limits.searches) {}

bool Translator::has_room() const {
  return search_.room() > 0 && static_cast<int64_t>(lines_.size()) < max_lines_;
}

void Translator::add(std::string_view line, std::string_view prefix) {
  auto job = std::make_shared<Job>();
  job->key = std::string(prefix) + '\n' + std::string(line);
  if (const auto same = same_.find(job->key); same != same_.end()) {
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
  std::vector<SearchResult> results = search_.step();
  if (!search_.finite()) throw_not_finite(model_);
  for (SearchResult& result : results) {
    const Place place = searched_.extract(result.id).mapped();
    receive(place, ranked(place.job->parts[place.part], std::move(result)));
  }
}

// What was found, those that the options let stand, in their order.
std::vector<ScoredHypothesis> Translator::ranked(const Segment& part, SearchResult result) const {
  std::vector<ScoredHypothesis> found;
  result.attention.resize(result.hypotheses.size());
  for (size_t i = 0; i < result.hypotheses.size(); ++i)
    found.push_back({std::move(result.hypotheses[i]), std::move(result.attention[i])});
  if (options_.coverage_penalty == 0) return found;
  for (ScoredHypothesis& f : found)
    f.hypothesis.score += options_.coverage_penalty * coverage(f.attention, part.ids, part.end);
  std::ranges::stable_sort(found, std::greater{},
                           [](const ScoredHypothesis& f) { return f.hypothesis.score; });
  const auto most = static_cast<size_t>(options_.nbest);
  if (found.size() > most) found.erase(found.begin() + static_cast<std::ptrdiff_t>(most), found.end());
  return found;
}

void Translator::receive(const Place& place, std::vector<ScoredHypothesis> found) {
  Job& job = *place.job;
  const bool again = !job.found[place.part].empty();
  const bool loops = is_loop(found[0].hypothesis.tokens, job.parts[place.part].ids);
  job.found[place.part] = std::move(found);
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
  std::vector<const ScoredHypothesis*> found;
  for (const auto& of_part : job.found) found.push_back(&of_part[std::min(rank, of_part.size() - 1)]);
  return join(found, job.parts, job.source, *model_.vocabularies.target, options_);
}

TranslatedLine Translator::translated(const Job& job) const {
  TranslatedLine line = {.source = job.source, .invalid = job.invalid, .repeats = job.repeats};
  size_t ranks = 1;
  for (size_t part = 0; part < job.parts.size(); ++part) {
    const Hypothesis& best = job.found[part][0].hypothesis;
    ranks = std::max(ranks, job.found[part].size());
    line.cut |= job.parts[part].cut || best.cut;
    line.unknown |= has_unknown(job.parts[part].ids, *model_.vocabularies.source) ||
                    has_unknown(best.tokens, *model_.vocabularies.target);
  }
  if (options_.alignment) line.pieces = source_pieces(job.parts, job.source, *model_.vocabularies.source);
  line.translations = {joined(job, 0)};
  for (size_t rank = 1; rank < ranks; ++rank) {
    Translation next = joined(job, rank);
    if (!std::ranges::count(line.translations, next.text, &Translation::text))
      line.translations.push_back(std::move(next));
  }
  return line;
}

}  // namespace dragoman
