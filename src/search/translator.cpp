#include "search/translator.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/lines.h"
#include "search/unlikely.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr int64_t forbidden_ngram = 3;       // where an output looped
constexpr int64_t longest_beginning = 2000;  // subwords of a text that a language model continues

std::string valid_text(const std::string& text) { return is_text(text) ? text : repaired(text); }

// Of an output whose first token was given. A search finds at least one token, but a source of one symbol is its copy.
void add_given_token(const std::vector<int32_t>& source, ScoredHypothesis& found) {
  Hypothesis& h = found.hypothesis;
  const bool attends = !found.attention.empty();
  if (source.size() == 1) {
    h.tokens.clear();
    h.log_probabilities.clear();
    found.attention.clear();
  }
  h.tokens.insert(h.tokens.begin(), source[0]);
  h.log_probabilities.insert(h.log_probabilities.begin(), 0.0F);
  if (!attends) return;
  std::vector<float> attention(source.size());
  attention[0] = 1;
  found.attention.insert(found.attention.begin(), std::move(attention));
}

// Of a text that is not searched for: its tokens, where nobody asks what they attended to.
ScoredHypothesis as_hypothesis(const std::string& text, const Vocabulary& target,
                               const SearchOptions& options) {
  ScoredHypothesis known;
  if (options.alignment) return known;
  known.hypothesis.tokens = target.encode(text);
  known.hypothesis.log_probabilities.resize(known.hypothesis.tokens.size());
  return known;
}

// A request, and what is known of its translation.
class TranslationJob : public SearchJob {
 public:
  TranslationJob(TranslationRequest request, SavedModel& model, TextReader& reader)
      : request_(std::move(request)), model_(model), reader_(reader) {}

  size_t read() override {
    text_ = reader_.read(request_);
    progress_.resize(text_.line.segments.size());
    return text_.searched.size();
  }

  SearchRequest sentence(size_t number) const override { return text_.request(text_.searched[number]); }

  void found(size_t number, const FoundSentence& found) override {
    const size_t segment = text_.searched[number];
    text_.line.repeats |= found.repeats;
    text_.line.hypotheses[segment] = found.hypotheses;
    if (!text_.length_is_given) return;
    for (ScoredHypothesis& hypothesis : text_.line.hypotheses[segment])
      add_given_token(text_.line.segments[segment].ids, hypothesis);
  }

  void moved(size_t number, const SearchProgress& progress) override {
    const size_t segment = text_.searched[number];
    SearchProgress& now = progress_[segment] = progress;
    if (!text_.length_is_given) return;
    now.tokens.insert(now.tokens.begin(), text_.line.segments[segment].ids[0]);
    ++now.final_tokens;
  }

  // A second search of a segment begins anew, and is behind for a while.
  bool has_news() override {
    if (!request_.on_progress || may_give_back_source()) return false;
    PartialText text =
        partial_text(text_.line, progress_, *model_.vocabularies.target, request_.options, finished_);
    if (text.final_bytes < reported_.final_bytes || text == reported_) return false;
    reported_ = std::move(text);
    return true;
  }

  void report() override { request_.on_progress(reported_); }

  void end(JobEnd end) override {
    TranslatedLine line;
    try {
      if (end.status == SearchStatus::finished)
        line = translated_line(text_.line, model_.vocabularies, request_.options, request_.tokens);
      if (end.status == SearchStatus::failed && !end.error) throw_not_finite(model_);
    } catch (...) {
      end = {SearchStatus::failed, std::current_exception()};
    }
    request_.on_end(std::move(end), std::move(line));
  }

 private:
  // If so, nothing of the output is final before its end.
  bool may_give_back_source() const {
    return request_.options.keep_source && text_.line.judged && has_few_words(text_.line.source);
  }

  TranslationRequest request_;
  SavedModel& model_;
  TextReader& reader_;
  ReadText text_ = {};
  std::vector<SearchProgress> progress_ = {};  // of each segment
  FinishedText finished_ = {};
  PartialText reported_ = {};
};

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

int64_t ReadText::left_to_search(size_t segment) const {
  const size_t given = prefix ? prefix->of_segments[segment].size() : 0;
  return std::ssize(line.segments[segment].ids) - static_cast<int64_t>(std::max<size_t>(given, 1));
}

SearchRequest ReadText::request(size_t segment) const {
  SearchRequest request = shared;
  request.source = line.segments[segment].ids;
  request.other_sources = line.segments[segment].other_ids;
  request.marks = line.segments[segment].marks;
  if (prefix) {
    request.prefix = prefix->of_segments[segment];
    if (segment != prefix->ends_in) request.options.nbest = 1;
  }
  if (!terms.empty()) request.terms = terms[segment];
  if (!neighbours.empty()) request.neighbours = neighbours[segment];
  const auto has = [](const std::vector<int32_t>& ids, int32_t id) {
    return std::ranges::count(ids, id) > 0;
  };
  if (request.options.replace_unknown && !has(request.source, unknown_source) &&
      !has(request.prefix, unknown_target)) {
    // There is nothing that an unknown token could stand for, and no attention that would tell what.
    request.forbidden = unknown_target;
    if (!request.options.alignment && request.options.coverage_penalty == 0) request.attention_layer = 0;
  }
  if (length_is_given) {
    if (!request.prefix.empty()) request.prefix.erase(request.prefix.begin());
    request.options.max_length = std::clamp<int64_t>(left_to_search(segment), 1, request.options.max_length);
    request.options.max_length_ratio = 0;
  }
  return request;
}

ReadText TextReader::read(const TranslationRequest& request) {
  const SearchOptions& options = request.options;
  const int64_t layer = alignment_layer(model_.model.config, options.alignment_layer);
  const Direction direction = model_.direction(options);
  const Vocabulary& target = *model_.vocabularies.target;
  ReadText text = {.line = {.source = valid_text(request.text), .invalid = !is_text(request.text)},
                   .shared = {.start = direction.start,
                              .options = options,
                              .shortlist = shortlist_for(options),
                              .attention_layer = needs_attention(options) ? layer : 0,
                              .progress = static_cast<bool>(request.on_progress),
                              .retry_ngram = forbidden_ngram},
                   .unknown_source = model_.vocabularies.source->special().unknown,
                   .unknown_target = target.special().unknown,
                   .length_is_given = target.special().end < 0};
  text.line.judged = has_encoder(model_.model.config) && !text.length_is_given && !options.sample &&
                     request.prefix.empty() && request.terms.empty();
  has_encoder(model_.model.config) ? read_source(request, direction, text) : read_beginning(request, text);
  text.line.hypotheses.resize(text.line.segments.size());
  for (size_t s = 0; s < text.line.segments.size(); ++s) {
    if (text.length_is_given) text.line.segments[s].cut |= text.left_to_search(s) > options.max_length;
    const std::optional<std::string>& known = text.line.segments[s].known;
    known ? text.line.hypotheses[s].push_back(as_hypothesis(*known, target, options))
          : text.searched.push_back(s);
  }
  return text;
}

void TextReader::look_up(const TranslationRequest& request, const Direction& direction,
                         ReadText& text) const {
  if (!request.look_up) return;
  if (text.length_is_given)
    throw UsageError("{} has outputs without an end mark, and so cannot translate with a memory",
                     model_.folder);
  KnownOfLine known = find_known(request.look_up, model_, direction, request.options, text.line.source,
                                 request.take_exact && request.prefix.empty(), text.line.segments);
  text.line.judged &= known.used.empty();
  text.neighbours = std::move(known.neighbours);
  text.line.known = std::move(known.used);
}

void TextReader::read_source(const TranslationRequest& request, const Direction& direction, ReadText& text) {
  text.line.segments = split_line(model_, text.line.source, direction);
  look_up(request, direction, text);
  if (!request.prefix.empty())
    text.prefix = prefixes_of_segments(valid_text(request.prefix), text.line.segments,
                                       *model_.vocabularies.target, direction.output_language);
  place_terms_of(request, text);
}

// For a language model the text is the beginning of the output.
void TextReader::read_beginning(const TranslationRequest& request, ReadText& text) const {
  if (!request.prefix.empty() || !request.terms.empty() || request.look_up ||
      needs_attention(request.options))
    throw UsageError(
        "{} is a language model, which continues a text: prefixes, terms, memories and alignments are for "
        "translations",
        model_.folder);
  PiecesOfText pieces = model_.vocabularies.target->encode_with_spans(text.line.source);
  const int64_t most = std::min(longest_beginning, model_.max_positions - 1);
  if (std::ssize(pieces.ids) > most)
    throw UsageError("the text has {} subwords, but at most {} can be continued: give its last part",
                     pieces.ids.size(), most);
  text.prefix = GivenPrefix{.of_segments = {pieces.ids}};
  if (pieces.ids.empty()) pieces = {{model_.vocabularies.target->special().empty_source_token()}, {{0, 0}}};
  text.line.segments = {{.ids = std::move(pieces.ids), .marks = {}, .spans = std::move(pieces.spans)}};
}

const Shortlist* TextReader::shortlist_for(const SearchOptions& options) {
  if (!options.shortlist) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto known = shortlists_.find(options.always_allow);
  if (known != shortlists_.end()) return &known->second;
  Shortlist list = model_.shortlist();
  if (!options.always_allow.empty()) list.allow_words_of(options.always_allow, *model_.vocabularies.target);
  return &shortlists_.emplace(options.always_allow, std::move(list)).first->second;
}

void TextReader::place_terms_of(const TranslationRequest& request, ReadText& text) {
  SearchedLine& line = text.line;
  if (request.terms.empty()) return;
  if (model_.readers.size() == 1 && model_.readers[0].reads_terms) {
    line.wanted = add_to_sources(request.terms, line.source, model_, line.segments);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (!spelling_) spelling_.emplace(model_.vocabularies.target);
  const int64_t layer = alignment_layer(model_.model.config, request.options.alignment_layer);
  PlacedTerms placed = place_terms(request.terms, line.source, line.segments, layer, *spelling_);
  text.terms = std::move(placed.of_segments);
  line.wanted = std::move(placed.of_known);
  line.terms_missed = placed.missed;
}

Translator::Translator(SavedModel& of, const BatchLimits& limits)
    : model(of),
      reader(of),
      scheduler(limits.sentences, limits.reserved, limits.cache_bytes),
      searches(scheduler, of.models(), search_settings(of, limits), limits.searches, of.fusion,
               limits.further_devices) {}

uint64_t Translator::add(TranslationRequest request, const Claim& claim) {
  return scheduler.add(std::make_unique<TranslationJob>(std::move(request), model, reader), claim);
}

}  // namespace dragoman::internal
