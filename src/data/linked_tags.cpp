#include "data/linked_tags.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "data/links.h"
#include "text/scripts.h"
#include "text/tags.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr size_t most_words = 3;

// --- One side of a pair -----------------------------------------------------------------------------

struct Sentence {
  std::string text;
  std::vector<TextSpan> pieces;  // in bytes, without white space
  std::vector<size_t> word_of;   // of each piece
  std::vector<TextSpan> words;   // without the marks around them
};

bool begins_unspaced(std::string_view text) {
  return !text.empty() && is_of_unspaced_script(code_points(text).front());
}

TextSpan without_marks(TextSpan word, std::string_view text) {
  if (!is_plain_word(word.of(text))) return word;
  const std::string_view bare = bare_word(word.of(text));
  const auto begin = static_cast<size_t>(bare.data() - text.data());
  return {begin, begin + bare.size()};
}

// Nothing where the pieces are not those of their text, as unknown ones and marks around terms are not.
std::optional<Sentence> sentence_of(const Vocabulary& vocabulary, const std::vector<int32_t>& ids) {
  TextOfPieces decoded = vocabulary.decode_with_spans(ids);
  if (has_markup(decoded.text) || vocabulary.encode(decoded.text) != ids) return std::nullopt;
  Sentence sentence;
  for (const TextSpan& span : decoded.spans) {
    TextSpan piece = span;
    while (piece.begin < piece.end && decoded.text[piece.begin] == ' ') ++piece.begin;
    const bool is_next = sentence.words.empty() || span.begin < piece.begin;
    if (is_next || begins_unspaced(piece.of(decoded.text))) sentence.words.push_back(piece);
    sentence.words.back().end = piece.end;
    sentence.word_of.push_back(sentence.words.size() - 1);
    sentence.pieces.push_back(piece);
  }
  for (TextSpan& word : sentence.words) word = without_marks(word, decoded.text);
  sentence.text = std::move(decoded.text);
  return sentence;
}

// --- Parts that translate each other ----------------------------------------------------------------

struct Parts {
  TextSpan source, target;
};

// From a first to a last word; none where first > last.
struct WordRange {
  size_t first = std::numeric_limits<size_t>::max(), last = 0;

  bool empty() const { return first > last; }
  void add(const WordRange& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};

WordRange united(const std::vector<WordRange>& ranges, const WordRange& which) {
  WordRange all;
  for (size_t word = which.first; word <= which.last; ++word) all.add(ranges[word]);
  return all;
}

TextSpan span_of(const Sentence& sentence, const WordRange& words) {
  return {sentence.words[words.first].begin, sentence.words[words.last].end};
}

bool has_ends(const Sentence& sentence, const WordRange& words) {
  const auto has_text = [&](size_t word) { return sentence.words[word].begin < sentence.words[word].end; };
  return has_text(words.first) && has_text(words.last);
}

// Up to so many words whose links, and those of what they are linked to, stay among these.
std::vector<Parts> parts_of(const Sentence& source, const Sentence& target, const std::vector<Link>& links) {
  std::vector<WordRange> of_source(source.words.size()), of_target(target.words.size());
  for (const Link& link : links) {
    const size_t s = source.word_of[static_cast<size_t>(link.source)],
                 t = target.word_of[static_cast<size_t>(link.target)];
    of_source[s].add({t, t});
    of_target[t].add({s, s});
  }
  std::vector<Parts> parts;
  for (size_t first = 0; first < source.words.size(); ++first) {
    for (size_t last = first; last < std::min(source.words.size(), first + most_words); ++last) {
      const WordRange words = {first, last};
      if (of_source[first].empty() || of_source[last].empty()) continue;
      const WordRange translation = united(of_source, words), back = united(of_target, translation);
      if (back.first < first || back.last > last) continue;
      if (has_ends(source, words) && has_ends(target, translation))
        parts.push_back({span_of(source, words), span_of(target, translation)});
    }
  }
  return parts;
}

// --- With the tag -----------------------------------------------------------------------------------

struct TaggedSentence {
  PiecesOfText pieces;
  std::vector<TextSpan> moved;            // where the pieces of the sentence before it are now
  std::vector<int32_t> opening, closing;  // the pieces of the tag
};

TaggedSentence tagged(const Vocabulary& vocabulary, const Sentence& sentence, TextSpan part, const Tag& tag) {
  TaggedSentence result;
  result.pieces = vocabulary.encode_with_spans(with_tag(sentence.text, part, tag));
  const auto shift = [&](size_t byte) {
    return byte + (byte < part.begin ? 0 : tag.open.size()) + (byte < part.end ? 0 : tag.close.size());
  };
  for (const TextSpan& piece : sentence.pieces) {
    const bool empty = piece.begin == piece.end;
    result.moved.push_back({shift(piece.begin), empty ? shift(piece.begin) : shift(piece.end - 1) + 1});
  }
  const size_t opening = part.begin, closing = part.end + tag.open.size();
  for (int32_t i = 0; i < std::ssize(result.pieces.spans); ++i) {
    const TextSpan& span = result.pieces.spans[static_cast<size_t>(i)];
    const auto overlaps = [&](size_t begin, size_t size) {
      return span.begin < begin + size && begin < span.end;
    };
    if (overlaps(opening, tag.open.size())) result.opening.push_back(i);
    if (overlaps(closing, tag.close.size())) result.closing.push_back(i);
  }
  return result;
}

bool fits(const TaggedSentence& sentence, const Vocabulary& vocabulary, int64_t max_length) {
  const std::vector<int32_t>& ids = sentence.pieces.ids;
  return std::ssize(ids) <= max_length && std::ranges::find(ids, vocabulary.special().unknown) == ids.end();
}

// Piece by piece, and the last one of the source again where the target has more.
void link_tags(const std::vector<int32_t>& source, const std::vector<int32_t>& target,
               std::vector<Link>& links) {
  std::erase_if(links, [&](const Link& link) {
    return std::ranges::find(source, link.source) != source.end() ||
           std::ranges::find(target, link.target) != target.end();
  });
  for (size_t i = 0; i < target.size() && !source.empty(); ++i)
    links.push_back({.source = source[std::min(i, source.size() - 1)], .target = target[i]});
}

}  // namespace

void add_linked_tags(const Vocabularies& vocabularies, int64_t max_length, Random& random, LinkedPair& pair) {
  const auto source = sentence_of(*vocabularies.source, pair.source),
             target = sentence_of(*vocabularies.target, pair.target);
  if (!source || !target) return;
  const DrawnTag drawn = draw_tag(random);
  Parts part = {{0, source->text.size()}, {0, target->text.size()}};
  if (drawn.around_words) {
    const std::vector<Parts> parts = parts_of(*source, *target, pair.links);
    if (!parts.empty()) part = parts[random.below(parts.size())];
  }
  TaggedSentence of_source = tagged(*vocabularies.source, *source, part.source, drawn.tag),
                 of_target = tagged(*vocabularies.target, *target, part.target, drawn.tag);
  if (!fits(of_source, *vocabularies.source, max_length) ||
      !fits(of_target, *vocabularies.target, max_length))
    return;
  move_links(of_source.moved, of_source.pieces.spans, &Link::source, pair.links);
  move_links(of_target.moved, of_target.pieces.spans, &Link::target, pair.links);
  link_tags(of_source.opening, of_target.opening, pair.links);
  link_tags(of_source.closing, of_target.closing, pair.links);
  std::ranges::sort(pair.links, {}, by_target);
  pair.source = std::move(of_source.pieces.ids);
  pair.target = std::move(of_target.pieces.ids);
}

}  // namespace dragoman::internal
