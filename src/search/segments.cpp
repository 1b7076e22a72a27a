#include "search/segments.h"

#include <algorithm>
#include <cstdint>

#include "base/signals.h"
#include "text/folding.h"
#include "text/sentences.h"

namespace dragoman::internal {
namespace {

constexpr size_t stretch = 1 << 14;  // bytes that are encoded at once, in some milliseconds

// The subwords of a text, or of its beginning where they are more than `most`. A megabyte takes a second: it is split
// at spaces, where every subword ends, with a check for a signal to stop in between.
PiecesOfText encode(const Vocabulary& vocabulary, std::string_view text, size_t most, bool folded) {
  PiecesOfText all;
  // A subword has at least a byte. A vector that grows would take up to three times the memory; this one takes no more
  // than it fills.
  const size_t at_most = std::min(text.size(), most < SIZE_MAX ? most + stretch : most);
  all.ids.reserve(at_most);
  all.spans.reserve(at_most);
  for (size_t begin = 0; begin < text.size() && all.ids.size() <= most;) {
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped before all lines were translated");
    const size_t end = std::min(text.find(' ', std::min(begin + stretch, text.size())), text.size());
    const std::string_view bytes = text.substr(begin, end - begin);
    const PiecesOfText some = folded ? encode_folded(bytes, vocabulary) : vocabulary.encode_with_spans(bytes);
    all.ids.insert(all.ids.end(), some.ids.begin(), some.ids.end());
    for (const TextSpan& span : some.spans) all.spans.push_back({begin + span.begin, begin + span.end});
    begin = end + 1;
  }
  return all;
}

bool begins_word(const Vocabulary& vocabulary, int32_t id) { return vocabulary.piece(id).starts_with("▁"); }

// How many of the first subwords make a segment: up to the last word that begins in the second half of the maximum.
size_t length_of_first(std::span<const int32_t> ids, size_t most, const Vocabulary& vocabulary) {
  if (ids.size() <= most) return ids.size();
  for (size_t end = most; end > most / 2; --end) {
    if (begins_word(vocabulary, ids[end])) return end;
  }
  return most;
}

// A text in the subwords of a model, and how many of them are in segments by now.
struct Reading {
  PiecesOfText pieces;
  size_t most;  // of them in a segment
  size_t done = 0;

  size_t left() const { return pieces.ids.size() - done; }
};

// A text in the subwords of each model; too_long: perhaps only as much as shows that it does not fit one of them.
// `tagged`: a segment also has a language tag.
enum class EncodeUntil { too_long, end };
std::vector<Reading> readings(const SavedModel& model, std::string_view text, EncodeUntil until, bool tagged,
                              const Direction& direction) {
  std::vector<Reading> all;
  for (size_t i = 0; i < model.readers.size(); ++i) {
    const SourceReader& reader = model.readers[i];
    const int64_t longest = reader.longest_between(direction.sources[i]);
    const auto most = static_cast<size_t>(std::max<int64_t>(1, longest - tagged));
    all.push_back(
        {encode(*reader.vocabulary, text, until == EncodeUntil::end ? SIZE_MAX : most, direction.folded),
         most});
  }
  return all;
}

// How many of the first model's next subwords make a segment that fits each of the others, too; at least one.
size_t max_for_all(const Reading& first, std::span<const Reading> others) {
  size_t most = std::min(first.most, first.left());
  for (const Reading& other : others) {
    if (other.left() <= other.most) continue;
    const size_t beyond = other.pieces.spans[other.done + other.most].begin;
    while (most > 1 && beyond < first.pieces.spans[first.done + most - 1].end) --most;
  }
  return most;
}

// Takes a model's next subwords, up to this byte. Whether they fit.
bool take_before(size_t byte, Reading& reading, std::vector<int32_t>& ids) {
  const size_t begin = reading.done;
  while (reading.left() > 0 && reading.pieces.spans[reading.done].begin < byte)
    ids.push_back(reading.pieces.ids[reading.done++]);
  ids.resize(std::min(ids.size(), reading.most));
  return reading.done - begin <= reading.most;
}

// A sentence that begins at byte `offset` of the line: one segment, or as many as it takes.
void add_sentence(std::vector<Reading> sentence, size_t offset, const Vocabulary& vocabulary,
                  std::vector<Segment>& segments) {
  const size_t number = segments.empty() ? 0 : segments.back().sentence + 1;
  Reading& first = sentence[0];
  const auto& [ids, spans] = first.pieces;
  const std::span<Reading> others = std::span(sentence).subspan(1);
  while (first.left() > 0) {
    Segment segment;
    const size_t begin = first.done, most = max_for_all(first, others);
    first.done += length_of_first(std::span(ids).subspan(begin), most, vocabulary);
    segment.cut = begin > 0 || first.left() > 0;
    segment.sentence = number;
    segment.ids.reserve(first.done - begin + 2);  // and the marks
    segment.spans.reserve(first.done - begin + 2);
    for (size_t i = begin; i < first.done; ++i) {
      segment.ids.push_back(ids[i]);
      segment.spans.push_back({offset + spans[i].begin, offset + spans[i].end});
    }
    const size_t end = first.left() > 0 ? spans[first.done - 1].end : SIZE_MAX;
    for (Reading& other : others) segment.cut |= !take_before(end, other, segment.other_ids.emplace_back());
    if (first.left() > 0 && begins_word(vocabulary, ids[first.done])) segment.space = ' ';
    segments.push_back(std::move(segment));
  }
}

void add_marks(const std::vector<SourceReader>& readers, const Direction& direction, Segment& segment) {
  const SourceFrame& frame = direction.sources[0];
  const size_t begin = segment.spans.front().begin, end = segment.spans.back().end;
  segment.marks = {.end = readers[0].end_mark ? readers[0].vocabulary->special().end : -1,
                   .language = direction.from};
  frame.add_to(segment.ids);
  segment.spans.insert(segment.spans.begin(), frame.before.size(), {begin, begin});
  segment.spans.insert(segment.spans.end(), frame.after.size(), {end, end});
  for (size_t i = 0; i < segment.other_ids.size(); ++i) {
    std::vector<int32_t>& ids = segment.other_ids[i];
    direction.sources[i + 1].add_to(ids);
    if (ids.empty()) ids.push_back(readers[i + 1].vocabulary->special().empty_source_token());
  }
}

// What the models read around each segment but the first, which has the line's language tag itself.
Direction after_first(const std::vector<SourceReader>& readers, std::string_view line, Direction direction) {
  for (size_t i = 0; i < readers.size(); ++i) {
    const size_t tag = readers[i].vocabulary->language_tag(line);
    if (tag == 0) continue;
    const int32_t id = readers[i].vocabulary->id(line.substr(0, tag));
    std::vector<int32_t>& before = direction.sources[i].before;
    before.insert(before.begin(), id);
    if (i == 0) direction.from = id;
  }
  return direction;
}

// Each with the line ends after it. Nearly always there is one.
std::vector<SentencePart> lines_of(std::string_view text) {
  std::vector<SentencePart> lines;
  while (!text.empty()) {
    const size_t line_end = std::min(text.find('\n'), text.size()),
                 next = std::min(text.find_first_not_of('\n', line_end), text.size());
    const size_t end =
        line_end > 0 && next > line_end && text[line_end - 1] == '\r' ? line_end - 1 : line_end;
    lines.push_back({text.substr(0, end), text.substr(end, next - end)});
    text.remove_prefix(next);
  }
  return lines;
}

}  // namespace

TextSpan extent_of(const Segment& segment) {
  TextSpan extent = {SIZE_MAX, 0};
  for (const TextSpan& span : segment.spans) {
    if (span.begin == span.end) continue;
    extent = {std::min(extent.begin, span.begin), std::max(extent.end, span.end)};
  }
  return extent;
}

std::vector<Segment> split_line(const SavedModel& model, std::string_view text, const Direction& direction) {
  const Vocabulary& vocabulary = *model.vocabularies.source;
  std::vector<Segment> segments;
  const bool tagged = vocabulary.language_tag(text) > 0;
  const auto add = [&](const SentencePart& part, std::vector<Reading> reading) {
    add_sentence(std::move(reading), static_cast<size_t>(part.sentence.data() - text.data()), vocabulary,
                 segments);
    if (!segments.empty()) segments.back().space += part.space;
  };
  const auto add_sentences = [&](std::string_view line) {
    for (const SentencePart& part : split_sentences(line, direction.language))
      add(part, readings(model, part.sentence, EncodeUntil::end, tagged, direction));
  };
  if (direction.by_sentence) {
    add_sentences(text);
  } else {
    for (const SentencePart& line : lines_of(text)) {
      std::vector<Reading> whole = readings(model, line.sentence, EncodeUntil::too_long, tagged, direction);
      if (std::ranges::all_of(whole, [](const Reading& r) { return r.left() <= r.most; })) {
        add(line, std::move(whole));
      } else {
        add_sentences(line.sentence);
        if (!segments.empty()) segments.back().space += line.space;
      }
    }
  }
  if (!segments.empty()) segments.back().space.clear();
  // By itself it ends no line.
  for (Segment& segment : segments)
    if (segment.space.find('\n') == segment.space.npos) std::ranges::replace(segment.space, '\r', ' ');
  if (segments.size() > 1) {
    const Direction later = after_first(model.readers, text, direction);
    for (Segment& segment : std::span(segments).subspan(1)) add_marks(model.readers, later, segment);
  }
  if (!segments.empty()) add_marks(model.readers, direction, segments[0]);
  return segments;
}

std::vector<Segment> split_line(const SavedModel& model, std::string_view text,
                                const SearchOptions& options) {
  return split_line(model, text, model.direction(options));
}

}  // namespace dragoman::internal
