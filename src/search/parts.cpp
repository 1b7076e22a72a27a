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

void add_long_sentence(std::span<const int32_t> ids, const SavedModel& model, std::vector<Part>& parts) {
  const Vocabulary& vocabulary = *model.vocabularies.source;
  while (!ids.empty()) {
    const size_t length = length_of_first(ids, static_cast<size_t>(model.max_length), vocabulary);
    Part part = {.ids = {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(length)}, .cut = true};
    ids = ids.subspan(length);
    if (!ids.empty() && begins_word(vocabulary, ids[0])) part.space = " ";
    parts.push_back(std::move(part));
  }
}

void add_sentence(std::vector<int32_t> ids, const SavedModel& model, std::vector<Part>& parts) {
  if (static_cast<int64_t>(ids.size()) > model.max_length) return add_long_sentence(ids, model, parts);
  if (!ids.empty()) parts.push_back({.ids = std::move(ids)});
}

}  // namespace

std::vector<Part> split_line(const SavedModel& model, std::string_view text) {
  const Vocabulary& vocabulary = *model.vocabularies.source;
  std::vector<Part> parts;
  std::vector<int32_t> whole = vocabulary.encode(text);
  if (static_cast<int64_t>(whole.size()) <= model.max_length) {
    add_sentence(std::move(whole), model, parts);
  } else {
    for (const SentencePart& part : split_sentences(text)) {
      add_sentence(vocabulary.encode(part.sentence), model, parts);
      if (!parts.empty()) parts.back().space = part.space;
    }
  }
  if (!parts.empty()) parts.back().space.clear();
  if (model.source_eos) {
    for (Part& part : parts) part.ids.push_back(eos_id);
  }
  return parts;
}

}  // namespace dragoman
