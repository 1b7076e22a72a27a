#include "search/parts.h"

#include <algorithm>
#include <cstdint>

#include "base/signals.h"
#include "text/sentences.h"

namespace dragoman {
namespace {

constexpr size_t stretch = 1 << 14;  // bytes that are encoded at once, some milliseconds' work

// The pieces of a text, or of its beginning where they are more than `most`. A megabyte takes a second: it is cut at
// spaces, where every piece ends, and a signal to stop is heeded in between.
PiecesOfText encode(const Vocabulary& vocabulary, std::string_view text, size_t most) {
  PiecesOfText all;
  for (size_t begin = 0; begin < text.size() && all.ids.size() <= most;) {
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped while a long line was read");
    const size_t end = std::min(text.find(' ', std::min(begin + stretch, text.size())), text.size());
    const PiecesOfText some = vocabulary.encode_with_spans(text.substr(begin, end - begin));
    all.ids.insert(all.ids.end(), some.ids.begin(), some.ids.end());
    for (const TextSpan& span : some.spans) all.spans.push_back({begin + span.begin, begin + span.end});
    begin = end + 1;
  }
  return all;
}

bool begins_word(const Vocabulary& vocabulary, int32_t id) { return vocabulary.piece(id).starts_with("▁"); }

// How many of the first pieces make a part: up to the last word that begins in the second half of what is allowed.
size_t length_of_first(std::span<const int32_t> ids, size_t most, const Vocabulary& vocabulary) {
  if (ids.size() <= most) return ids.size();
  for (size_t end = most; end > most / 2; --end) {
    if (begins_word(vocabulary, ids[end])) return end;
  }
  return most;
}

// A sentence that begins at byte `offset` of the line: one part, or as many as it takes.
void add_sentence(const PiecesOfText& sentence, size_t offset, const SavedModel& model,
                  std::vector<Part>& parts) {
  const Vocabulary& vocabulary = *model.vocabularies.source;
  const std::span<const int32_t> ids = sentence.ids;
  const auto most = static_cast<size_t>(model.max_length);
  for (size_t begin = 0; begin < ids.size();) {
    Part part = {.cut = ids.size() > most};
    const size_t end = begin + length_of_first(ids.subspan(begin), most, vocabulary);
    for (; begin < end; ++begin) {
      part.ids.push_back(ids[begin]);
      part.spans.push_back({offset + sentence.spans[begin].begin, offset + sentence.spans[begin].end});
    }
    if (end < ids.size() && begins_word(vocabulary, ids[end])) part.space = " ";
    parts.push_back(std::move(part));
  }
}

}  // namespace

std::vector<Part> split_line(const SavedModel& model, std::string_view text) {
  const Vocabulary& vocabulary = *model.vocabularies.source;
  const auto most = static_cast<size_t>(model.max_length);
  std::vector<Part> parts;
  const PiecesOfText whole = encode(vocabulary, text, most);
  if (whole.ids.size() <= most) {
    add_sentence(whole, 0, model, parts);
  } else {
    for (const SentencePart& part : split_sentences(text)) {
      const auto offset = static_cast<size_t>(part.sentence.data() - text.data());
      add_sentence(encode(vocabulary, part.sentence, SIZE_MAX), offset, model, parts);
      if (!parts.empty()) parts.back().space = part.space;
    }
  }
  if (!parts.empty()) parts.back().space.clear();
  if (model.source_eos) {
    for (Part& part : parts) {
      const size_t end = part.spans.back().end;
      part.ids.push_back(eos_id);
      part.spans.push_back({end, end});
    }
  }
  return parts;
}

}  // namespace dragoman
