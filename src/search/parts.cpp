#include "search/parts.h"

#include <algorithm>

#include "text/sentences.h"

namespace dragoman {
namespace {

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
  std::vector<Part> parts;
  const PiecesOfText whole = vocabulary.encode_with_spans(text);
  if (static_cast<int64_t>(whole.ids.size()) <= model.max_length) {
    add_sentence(whole, 0, model, parts);
  } else {
    for (const SentencePart& part : split_sentences(text)) {
      const auto offset = static_cast<size_t>(part.sentence.data() - text.data());
      add_sentence(vocabulary.encode_with_spans(part.sentence), offset, model, parts);
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
