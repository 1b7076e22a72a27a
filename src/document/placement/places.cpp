#include "document/placement/places.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace dragoman::internal {
namespace {

using MarkKind = DocumentMark::Kind;

// A span that begins or ends inside a word covers all of it.
TextSpan widened(TextSpan place, const std::vector<TextSpan>& words) {
  const auto around = [&](size_t byte) {
    const auto word = std::ranges::upper_bound(words, byte, {}, &TextSpan::end);
    return word != words.end() && word->begin < byte ? *word : TextSpan{byte, byte};
  };
  if (place.begin == place.end) return place;
  return {around(place.begin).begin, around(place.end).end};
}

// The segment, the texts between its cuts, and the marks, each after its parent.
class Tree {
 public:
  explicit Tree(const DocumentSegment& segment) : text_(segment.text), words_(words_of(segment.text)) {
    const bool cuts = std::ranges::count(segment.marks, MarkKind::cut, &DocumentMark::kind) > 0;
    open({.source = {0, text_.size()}});
    if (cuts) open({.source = {0, text_.size()}});
    const size_t base = open_.size();
    for (const DocumentMark& mark : segment.marks) {
      CHECK(base + mark.depth <= open_.size(), "depth {} after {}", mark.depth, open_.size() - base);
      while (open_.size() > base + mark.depth) close();
      if (mark.kind == MarkKind::cut) {
        nodes_[open_.back()].source.end = mark.place.begin;
        close();
      }
      add(mark);
      if (mark.kind == MarkKind::cut) open({.source = {mark.place.end, text_.size()}});
    }
    while (!open_.empty()) close();
  }

  std::vector<Placed> nodes() && { return std::move(nodes_); }

 private:
  void add(const DocumentMark& mark) {
    const auto [begin, end] = mark.place;
    const TextSpan around =
        nodes_[open_.back()].mark != nullptr ? nodes_[open_.back()].mark->place : TextSpan{0, text_.size()};
    CHECK(around.begin <= begin && begin <= end && end <= around.end, "{} to {} inside {} to {}", begin, end,
          around.begin, around.end);
    open({.mark = &mark,
          .source = mark.kind == MarkKind::span ? widened(mark.place, words_) : mark.place,
          .right = begin > 0 && text_[begin - 1] == ' '});
    if (mark.kind != MarkKind::span) close();
  }
  void open(Placed node) {
    node.parent = open_.empty() ? 0 : open_.back();
    open_.push_back(nodes_.size());
    nodes_.push_back(node);
  }
  void close() {
    nodes_[open_.back()].end = nodes_.size();
    open_.pop_back();
  }

  std::string_view text_;
  std::vector<TextSpan> words_;
  std::vector<Placed> nodes_;
  std::vector<size_t> open_;
};

// The innermost node that each word belongs to so far.
class Placement {
 public:
  Placement(const DocumentSegment& segment, const WordLinks& links)
      : segment_(segment), links_(links), nodes_(Tree(segment).nodes()) {
    nodes_[0].words = {0, links.words().size()};
    owners_.assign(links.words().size(), 0);
    for (size_t parent = 0; parent < nodes_.size(); ++parent) place_children(parent);
  }

  std::vector<Placed> nodes() && { return std::move(nodes_); }

 private:
  void place_children(size_t parent) {
    if (nodes_[parent].mark != nullptr && nodes_[parent].words.empty()) return collapse(parent);
    place_fixed(parent);
    std::vector<size_t> cuts, pointlike;
    for (size_t child = parent + 1; child < nodes_[parent].end; child = nodes_[child].end) {
      const DocumentMark* mark = nodes_[child].mark;
      if (mark == nullptr) continue;  // the text between two cuts
      if (mark->kind == MarkKind::span) place_span(child, parent);
      if (nodes_[child].words.empty()) (mark->kind == MarkKind::cut ? cuts : pointlike).push_back(child);
    }
    if (!cuts.empty()) return place_cuts(parent, cuts);
    for (const size_t child : pointlike) place_point(child, parent);
  }

  // Marks inside an empty span are at its place.
  void collapse(size_t parent) {
    for (size_t child = parent + 1; child < nodes_[parent].end; child = nodes_[child].end)
      nodes_[child].words = nodes_[parent].words;
  }

  void own(size_t node, WordRange words) {
    nodes_[node].words = words;
    std::fill(owners_.begin() + static_cast<std::ptrdiff_t>(words.begin),
              owners_.begin() + static_cast<std::ptrdiff_t>(words.end), node);
  }

  // Before spans, which must not end inside them.
  void place_fixed(size_t parent) {
    for (size_t child = parent + 1; child < nodes_[parent].end; child = nodes_[child].end) {
      const DocumentMark* mark = nodes_[child].mark;
      if (mark == nullptr || mark->kind != MarkKind::fixed) continue;
      const WordRange range = nodes_[parent].words, near = links_.near(mark->place.begin, range);
      const auto free = [&](size_t word) { return owners_[word] == parent; };
      const WordRange linked = links_.words_from(mark->place, range, free);
      if (const WordRange words = same_words(*mark, linked, parent); !words.empty())
        own(child, words);
      else if (const WordRange others = same_words(*mark, near, parent); !others.empty())
        own(child, others);
    }
  }

  // The first words of the range that belong to the mark and to no other.
  WordRange same_words(const DocumentMark& mark, WordRange range, size_t parent) const {
    const auto [begin, end] = mark.place;
    const std::string_view wanted = std::string_view(segment_.text).substr(begin, end - begin);
    const std::vector<TextSpan>& words = links_.words();
    for (size_t first = range.begin; first < range.end; ++first) {
      if (!links_.translation().substr(words[first].begin).starts_with(wanted)) continue;
      size_t last = first;
      while (last < range.end && owners_[last] == parent &&
             words[last].end < words[first].begin + wanted.size())
        ++last;
      if (last < range.end && owners_[last] == parent &&
          words[last].end == words[first].begin + wanted.size())
        return {first, last + 1};
    }
    return {};
  }

  void place_span(size_t child, size_t parent) {
    const TextSpan source = nodes_[child].source, around = nodes_[parent].source;
    if (source.begin == source.end) return;
    const auto free = [&](size_t word) { return owners_[word] == parent; };
    const WordRange range = nodes_[parent].words;
    bool all = source.begin <= around.begin && source.end >= around.end;
    for (size_t word = range.begin; all && word < range.end; ++word) all = free(word);
    own(child, all ? range : links_.words_from(source, range, free));
  }

  // Where the fewest words are on the wrong side, but not inside a sibling.
  void place_point(size_t child, size_t parent) {
    const WordRange all = nodes_[parent].words, range = links_.near(nodes_[child].source.begin, all);
    const std::vector<double> wrong = links_.crossings(nodes_[child].source.begin, range);
    size_t best = all.begin;
    double least = std::numeric_limits<double>::infinity();
    for (size_t k = range.begin; k <= range.end; ++k) {
      const bool inside =
          k > all.begin && k < all.end && owners_[k - 1] != parent && owners_[k - 1] == owners_[k];
      if (inside || wrong[k - range.begin] >= least) continue;
      least = wrong[k - range.begin];
      best = k;
    }
    nodes_[child].words = {best, best};
  }

  void place_cuts(size_t parent, const std::vector<size_t>& cuts);

  const DocumentSegment& segment_;
  const WordLinks& links_;
  std::vector<Placed> nodes_;
  std::vector<size_t> owners_;
};

// A cut costs the words on its wrong side; a stretch of text costs the words that it has more or fewer than its share.
class Cuts {
 public:
  Cuts(const WordLinks& links, WordRange range, size_t source_bytes) : links_(links), range_(range) {
    const std::vector<TextSpan>& words = links.words();
    const double bytes = range.empty() ? 0 : double(words[range.end - 1].end - words[range.begin].begin);
    word_ = std::max(1.0, bytes / std::max<double>(1, double(range.end - range.begin)));
    scale_ = bytes / std::max<double>(1, double(source_bytes));
    best_.assign(range.end - range.begin + 1, std::numeric_limits<double>::infinity());
    best_[0] = 0;
  }

  // The next cut, at this place, ends a stretch of this many bytes of source.
  void add(size_t place, size_t stretch) {
    const std::vector<double> wrong = links_.crossings(place, range_);
    std::vector<double> costs(best_.size(), std::numeric_limits<double>::infinity());
    std::vector<size_t>& from = from_.emplace_back(best_.size(), 0);
    for (size_t k = 0; k < best_.size(); ++k) {
      for (size_t before = 0; before <= k; ++before) {
        const double cost = best_[before] + cost_of_wrong * wrong[k] + cost_of(before, k, stretch);
        if (cost >= costs[k]) continue;
        costs[k] = cost;
        from[k] = before;
      }
    }
    best_ = std::move(costs);
  }

  // The places of the cuts, as numbers of words, if such a stretch is the last.
  std::vector<size_t> finish(size_t stretch) const {
    const size_t last = best_.size() - 1;
    size_t k = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t before = 0; before <= last; ++before) {
      const double cost = best_[before] + cost_of(before, last, stretch);
      if (cost < least) {
        least = cost;
        k = before;
      }
    }
    std::vector<size_t> places(from_.size());
    for (size_t i = from_.size(); i-- > 0; k = from_[i][k]) places[i] = range_.begin + k;
    return places;
  }

 private:
  static constexpr double cost_of_wrong = 2;  // a word too many in one stretch is one too few in another
  static constexpr double cost_of_empty = 1000;

  double cost_of(size_t begin, size_t end, size_t stretch) const {
    if (begin == end) return cost_of_empty;
    const std::vector<TextSpan>& words = links_.words();
    const double bytes = double(words[range_.begin + end - 1].end - words[range_.begin + begin].begin);
    return std::abs(bytes - scale_ * double(stretch)) / word_;
  }

  const WordLinks& links_;
  WordRange range_;
  double word_, scale_;
  std::vector<double> best_;               // by the number of words before the last cut
  std::vector<std::vector<size_t>> from_;  // of each cut and place: the place of the cut before it
};

void Placement::place_cuts(size_t parent, const std::vector<size_t>& cuts) {
  const WordRange range = nodes_[parent].words;
  Cuts search(links_, range, segment_.text.size());
  size_t begin = 0;
  for (const size_t cut : cuts) {
    search.add(nodes_[cut].source.begin, nodes_[cut].source.begin - begin);
    begin = nodes_[cut].source.end;
  }
  const std::vector<size_t> places = search.finish(segment_.text.size() - begin);
  size_t next = 0, word = range.begin;
  for (size_t child = parent + 1; child < nodes_[parent].end; child = nodes_[child].end) {
    const bool is_cut = nodes_[child].mark != nullptr;
    if (is_cut) nodes_[child].words = {places[next], places[next]};
    if (is_cut)
      word = places[next++];
    else
      own(child, {word, next < places.size() ? places[next] : range.end});
  }
}

}  // namespace

std::vector<Placed> place(const DocumentSegment& segment, const WordLinks& links) {
  return Placement(segment, links).nodes();
}

}  // namespace dragoman::internal
