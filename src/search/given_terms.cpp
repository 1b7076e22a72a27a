#include "search/given_terms.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "text/term_marks.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using Spelling = std::vector<int32_t>;

constexpr size_t max_known = 20'000;  // targets whose spelling is remembered

// What a target is put behind to see how it is spelt there. At the beginning of a text, after a word, and where no
// space is.
constexpr std::array<std::string_view, 6> contexts = {"", "a ", "(", "-", "。", "的"};

// The tokens of the text after the context, if none is of both.
Spelling spelling_after(std::string_view context, const std::string& text, const Vocabulary& vocabulary) {
  const PiecesOfText pieces = vocabulary.encode_with_spans(std::string(context) + text);
  const size_t last = context.find_last_not_of(' '), begin = last == context.npos ? 0 : last + 1;
  const auto first = std::ranges::find(pieces.spans, begin, &TextSpan::begin);
  if (first == pieces.spans.end()) return {};
  return {pieces.ids.begin() + (first - pieces.spans.begin()), pieces.ids.end()};
}

bool is_spelling(const Spelling& ids, const std::string& text, const Vocabulary& vocabulary) {
  const auto is_text = [&](int32_t id) {
    return !vocabulary.is_special(id) && std::ranges::count(vocabulary.suppressed(), id) == 0;
  };
  return !ids.empty() && std::ranges::all_of(ids, is_text) && single_spaced(vocabulary.decode(ids)) == text;
}

std::vector<GivenTerm> without_overlaps(std::vector<GivenTerm> terms) {
  std::ranges::stable_sort(terms, {}, [](const GivenTerm& term) {
    return std::tuple(term.source.begin, -static_cast<int64_t>(term.source.end));
  });
  size_t end = 0;
  std::erase_if(terms, [&](const GivenTerm& term) {
    if (term.source.begin < end) return true;
    end = term.source.end;
    return false;
  });
  return terms;
}

// The tokens of a segment that overlap these bytes.
SearchTerm term_at(TextSpan bytes, const Segment& segment) {
  const auto overlaps = [&](const TextSpan& span) {
    return span.begin < span.end && span.begin < bytes.end && bytes.begin < span.end;
  };
  const auto first = std::ranges::find_if(segment.spans, overlaps);
  auto last = first;
  while (last != segment.spans.end() && overlaps(*last)) ++last;
  return {.begin = static_cast<size_t>(first - segment.spans.begin()),
          .end = static_cast<size_t>(last - segment.spans.begin())};
}

// As many of the first as the segment has room for.
void add_terms(std::vector<TermInText> terms, size_t most, const Vocabulary& vocabulary, Segment& segment) {
  for (; !terms.empty(); terms.pop_back()) {
    PiecesOfText pieces = with_terms({segment.ids, segment.spans}, terms, vocabulary);
    if (pieces.ids.size() > most) continue;
    segment.ids = std::move(pieces.ids);
    segment.spans = std::move(pieces.spans);
    return;
  }
}

}  // namespace

TermSpelling::TermSpelling(std::shared_ptr<const Vocabulary> target)
    : vocabulary_(std::move(target)), edges_(*vocabulary_) {}

const std::vector<Spelling>& TermSpelling::spellings_of(const std::string& target) {
  if (const auto found = known_.find(target); found != known_.end()) return found->second;
  if (known_.size() >= max_known) known_.clear();
  const std::string text = single_spaced(target);
  std::vector<Spelling> spellings;
  for (const std::string_view context : contexts) {
    Spelling spelling = spelling_after(context, text, *vocabulary_);
    if (is_spelling(spelling, text, *vocabulary_) && std::ranges::count(spellings, spelling) == 0)
      spellings.push_back(std::move(spelling));
  }
  return known_.emplace(target, std::move(spellings)).first->second;
}

std::vector<TermForm> TermSpelling::forms_of(const std::vector<std::string>& targets) {
  std::vector<TermForm> forms;
  for (size_t i = 0; i < targets.size(); ++i) {
    for (const Spelling& spelling : spellings_of(targets[i]))
      if (std::ranges::count(forms, spelling, &TermForm::tokens) == 0) forms.push_back({spelling, i == 0});
  }
  return forms;
}

PlacedTerms place_terms(std::vector<GivenTerm> terms, std::string_view line,
                        const std::vector<Segment>& segments, int64_t attention_layer,
                        TermSpelling& spelling) {
  PlacedTerms placed;
  for (const Segment& segment : segments)
    placed.of_segments.push_back(
        {.marks = segment.marks, .edges = &spelling.edges(), .attention_layer = attention_layer});
  const std::vector<size_t> offsets = code_point_offsets(line);
  const bool line_is_known = segments.size() == 1 && segments[0].known;  // it has no spans then
  size_t segment = 0;
  TextSpan extent;
  for (const GivenTerm& given : without_overlaps(std::move(terms))) {
    const TextSpan bytes = {offsets.at(given.source.begin), offsets.at(given.source.end)};
    const auto ends_before = [&] { return (extent = extent_of(segments[segment])).end <= bytes.begin; };
    while (segment < segments.size() && ends_before()) ++segment;
    const bool inside = segment < segments.size() && extent.begin <= bytes.begin && bytes.end <= extent.end;
    if (line_is_known || (inside && segments[segment].known)) {
      placed.of_known.push_back(given.targets);
      continue;
    }
    SearchTerm term;
    if (inside) {
      term = term_at(bytes, segments[segment]);
      term.forms = spelling.forms_of(given.targets);
    }
    if (term.forms.empty() || term.begin == term.end) {
      placed.missed = true;
    } else {
      placed.of_segments[segment].all.push_back(std::move(term));
    }
  }
  return placed;
}

std::vector<std::vector<std::string>> add_to_sources(std::vector<GivenTerm> terms, std::string_view line,
                                                     const SavedModel& model,
                                                     std::vector<Segment>& segments) {
  terms = without_overlaps(std::move(terms));
  const std::vector<size_t> offsets = code_point_offsets(line);
  const SourceReader& reader = model.readers[0];
  for (Segment& segment : segments) {
    if (segment.known) continue;
    const TextSpan text = extent_of(segment);
    std::vector<TermInText> inside;
    for (const GivenTerm& term : terms) {
      const TextSpan bytes = {offsets.at(term.source.begin), offsets.at(term.source.end)};
      if (text.begin <= bytes.begin && bytes.end <= text.end) inside.push_back({bytes, term.targets.at(0)});
    }
    const auto frame =
        std::ranges::count_if(segment.spans, [](TextSpan span) { return span.begin == span.end; });
    const int64_t most = std::min(reader.max_length + frame, reader.positions);
    add_terms(std::move(inside), static_cast<size_t>(most), *reader.vocabulary, segment);
  }
  std::vector<std::vector<std::string>> wanted;
  for (GivenTerm& term : terms) wanted.push_back(std::move(term.targets));
  return wanted;
}

}  // namespace dragoman::internal
