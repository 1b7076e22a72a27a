#include "text/subword_sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

double log_sum(double a, double b) {
  const double high = std::max(a, b);
  return std::isinf(high) ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

}  // namespace

struct SubwordSampler::Pieces {
  const Vocabulary& vocabulary;
  std::unordered_map<std::string_view, int32_t> ids;
  size_t longest = 0;  // in bytes
  bool are_merges = true;

  explicit Pieces(const Vocabulary& v);

  // The id of a piece that spells text, or -1.
  int32_t find(std::string_view piece) const {
    const auto found = ids.find(piece);
    return found == ids.end() ? -1 : found->second;
  }

  // Each segments a text, or returns nothing if no pieces spell it.
  std::optional<std::vector<int32_t>> merge(std::string_view text, double dropout, Random& random) const;
  std::optional<std::vector<int32_t>> walk(std::string_view text, double exponent, Random& random) const;
};

// BPE's scores are the negated ranks of its merges, and so whole numbers; a unigram model's are log-probabilities.
SubwordSampler::Pieces::Pieces(const Vocabulary& v) : vocabulary(v) {
  for (int32_t id = 0; id < v.size(); ++id) {
    if (v.is_special(id) || v.is_byte(id)) continue;
    ids.emplace(v.piece(id), id);
    longest = std::max(longest, v.piece(id).size());
    are_merges &= v.score(id) == std::floor(v.score(id));
  }
}

// --- BPE-dropout ------------------------------------------------------------------------------------

namespace {

// A text during merging: a linked list of symbols. Those merged into their left neighbour are empty.
struct SymbolList {
  struct Symbol {
    size_t begin, end;
    int previous, next;
  };
  struct Merge {
    float score;
    int left, right;
    size_t begin, end;  // of the result; the merge is stale if its symbols have changed

    bool operator<(const Merge& other) const {  // the greatest is the best; of equals, the leftmost
      return score != other.score ? score < other.score : left > other.left;
    }
  };
  std::vector<Symbol> symbols;
  std::priority_queue<Merge> waiting;

  explicit SymbolList(std::string_view text) {
    const std::vector<size_t> begins = code_point_offsets(text);
    const int count = static_cast<int>(begins.size()) - 1;
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      symbols.push_back({begins[at], begins[at + 1], i - 1, i + 1 < count ? i + 1 : -1});
    }
  }

  Symbol& operator[](int i) { return symbols[static_cast<size_t>(i)]; }

  bool is_stale(const Merge& merge) {
    const Symbol &left = (*this)[merge.left], &right = (*this)[merge.right];
    return left.begin != merge.begin || right.end != merge.end || left.end != right.begin ||
           left.begin == left.end || right.begin == right.end;
  }

  void apply(const Merge& merge) {
    Symbol &left = (*this)[merge.left], &right = (*this)[merge.right];
    left.end = right.end;
    left.next = right.next;
    if (right.next >= 0) (*this)[right.next].previous = merge.left;
    right.begin = right.end;
  }
};

}  // namespace

std::optional<std::vector<int32_t>> SubwordSampler::Pieces::merge(std::string_view text, double dropout,
                                                                  Random& random) const {
  SymbolList list(text);
  const auto propose = [&](int left, int right) {
    if (left < 0 || right < 0) return;
    const size_t begin = list[left].begin, end = list[right].end;
    const int32_t id = find(text.substr(begin, end - begin));
    if (id >= 0) list.waiting.push({vocabulary.score(id), left, right, begin, end});
  };
  for (int i = 0; i + 1 < static_cast<int>(list.symbols.size()); ++i) propose(i, i + 1);
  while (!list.waiting.empty()) {
    const SymbolList::Merge best = list.waiting.top();
    list.waiting.pop();
    if (list.is_stale(best) || (dropout > 0 && random.uniform() < dropout)) continue;
    list.apply(best);
    propose(list[best.left].previous, best.left);
    propose(best.left, list[best.left].next);
  }
  std::vector<int32_t> cut;
  for (const SymbolList::Symbol& symbol : list.symbols) {
    if (symbol.begin == symbol.end) continue;
    cut.push_back(find(text.substr(symbol.begin, symbol.end - symbol.begin)));
    if (cut.back() < 0) return std::nullopt;
  }
  return cut;
}

// --- Unigram ----------------------------------------------------------------------------------------

// Forward filtering, backward sampling: sums[i] is the log of the summed weights of all cuts of the first i
// characters; from the end backwards, each piece is drawn by its share of that sum.
std::optional<std::vector<int32_t>> SubwordSampler::Pieces::walk(std::string_view text, double exponent,
                                                                 Random& random) const {
  struct Edge {
    size_t from;
    int32_t id;
    double weight;
  };
  const std::vector<size_t> begins = code_point_offsets(text);
  std::vector<double> sums(begins.size(), -std::numeric_limits<double>::infinity());
  std::vector<std::vector<Edge>> edges(begins.size());  // by their end
  sums[0] = 0;
  for (size_t end = 1; end < begins.size(); ++end) {
    for (size_t from = end; from-- > 0 && begins[end] - begins[from] <= longest;) {
      const int32_t id = find(text.substr(begins[from], begins[end] - begins[from]));
      if (id < 0) continue;
      edges[end].push_back({from, id, sums[from] + exponent * vocabulary.score(id)});
      sums[end] = log_sum(sums[end], edges[end].back().weight);
    }
  }
  if (std::isinf(sums.back())) return std::nullopt;
  std::vector<int32_t> cut;
  for (size_t end = begins.size() - 1; end > 0;) {
    double left = random.uniform();
    const Edge* chosen = nullptr;
    for (const Edge& edge : edges[end]) {
      if (std::isinf(edge.weight)) continue;
      chosen = &edge;
      left -= std::exp(edge.weight - sums[end]);
      if (left < 0) break;
    }
    cut.push_back(chosen->id);
    end = chosen->from;
  }
  std::reverse(cut.begin(), cut.end());
  return cut;
}

// ----------------------------------------------------------------------------------------------------

SubwordSampler::SubwordSampler(const Vocabulary& vocabulary, double alpha)
    : pieces_(std::make_unique<Pieces>(vocabulary)), alpha_(alpha) {}

SubwordSampler::~SubwordSampler() = default;

std::vector<int32_t> SubwordSampler::sample(std::span<const int32_t> ids, Random& random) const {
  std::vector<int32_t> result;
  for (size_t begin = 0; begin < ids.size();) {
    std::string text;
    size_t end = begin;
    while (end < ids.size() && pieces_->find(pieces_->vocabulary.piece(ids[end])) >= 0) {
      text += pieces_->vocabulary.piece(ids[end++]);
    }
    if (end == begin) {
      result.push_back(ids[begin++]);
      continue;
    }
    const auto cut =
        pieces_->are_merges ? pieces_->merge(text, alpha_, random) : pieces_->walk(text, alpha_, random);
    if (cut) {
      result.insert(result.end(), cut->begin(), cut->end());
    } else {
      result.insert(result.end(), ids.begin() + static_cast<int64_t>(begin),
                    ids.begin() + static_cast<int64_t>(end));
    }
    begin = end;
  }
  return result;
}

}  // namespace dragoman::internal
