// The aligner (data/align/aligner.h) is not used here: both of its directions must agree on a link, which leaves a
// source piece one translation or a few. A shortlist is to have all that a model may choose.
#include "data/lexicon.h"

#include <algorithm>
#include <atomic>
#include <tuple>

#include "base/signals.h"
#include "base/threads.h"

namespace dragoman::internal {
namespace {

constexpr int rounds = 5;
constexpr uint64_t max_pairs = 1'000'000;
constexpr size_t pairs_of_task = 1024;
constexpr int64_t counts_at_once = int64_t{1} << 25;
constexpr double unit = 4294967296.0;  // fixed point: integer sums do not depend on the order of addition

using Ids = std::vector<int32_t>;

// Runs over the pairs to learn from, on several threads.
class Pairs {
 public:
  Pairs(const PreparedCorpus& corpus, int threads)
      : threads_(threads), end_(corpus.vocabularies.source->special().end) {
    const auto kept = static_cast<uint64_t>(corpus.counts.kept);
    stride_ = std::max<uint64_t>(1, (kept + max_pairs - 1) / max_pairs);
    for (const Shard& shard : corpus.shards) {
      for (size_t begin = 0; begin < shard.pairs().size(); begin += pairs_of_task * stride_)
        tasks_.push_back({&shard, begin});
    }
  }

  // body(source, target); the source with its end token.
  template <class Body>
  void for_each(const Body& body) {
    run(tasks_.size(), [&](size_t number) {
      const Task& task = tasks_[number];
      const auto all = task.shard->pairs();
      const size_t end = std::min(all.size(), task.begin + pairs_of_task * stride_);
      Ids source, target;
      for (size_t i = task.begin; i < end && !stop_requested(); i += stride_) {
        task.shard->read(all[i], source, target);
        source.push_back(end_);
        body(source, target);
      }
    });
    if (stop_requested()) throw Stopped(stop_requested(), "stopped while learning the shortlist");
  }

  template <class Body>
  void run(size_t count, const Body& body) {
    threads_.for_each(count, body);
  }

 private:
  struct Task {
    const Shard* shard;
    size_t begin;
  };

  ThreadPool threads_;
  int32_t end_;
  uint64_t stride_;
  std::vector<Task> tasks_;
};

template <class Number>
void add(Number& sum, Number amount) {
  std::atomic_ref(sum).fetch_add(amount, std::memory_order_relaxed);
}

// The probabilities of target pieces given one source piece.
struct Row {
  Ids words;  // ascending
  std::vector<float> probabilities;
  std::vector<uint64_t> shares;  // expected counts of this round

  // The index of a word; words.size(): it is not kept.
  size_t find(int32_t word) const {
    const auto place = std::ranges::lower_bound(words, word);
    return place != words.end() && *place == word ? static_cast<size_t>(place - words.begin()) : words.size();
  }

  void begin(Ids chosen) {
    std::ranges::sort(chosen);
    words = std::move(chosen);
    probabilities.assign(words.size(), 1);
    shares.assign(words.size(), 0);
  }

  void end_round() {
    double total = 0;
    for (const uint64_t share : shares) total += static_cast<double>(share);
    for (size_t i = 0; i < words.size(); ++i)
      probabilities[i] = total > 0 ? static_cast<float>(static_cast<double>(shares[i]) / total) : 0;
    std::ranges::fill(shares, 0);
  }
};

// The indices of the largest values that reach `least`, the largest first.
template <class Number>
Ids largest(std::span<const Number> values, int64_t count, Number least) {
  Ids indices;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= least) indices.push_back(static_cast<int32_t>(i));
  }
  const auto kept = std::min(static_cast<std::ptrdiff_t>(count), std::ssize(indices));
  std::ranges::partial_sort(indices, indices.begin() + kept, {}, [&](int32_t i) {
    return std::tuple(-static_cast<double>(values[static_cast<size_t>(i)]), i);
  });
  indices.resize(static_cast<size_t>(kept));
  return indices;
}

// The words that each source piece co-occurs with most. Every target piece co-occurs with the end token, whose row
// gives the frequent ones. Counts are in memory for some source pieces at a time.
std::vector<Row> first_rows(Pairs& pairs, const Vocabularies& vocabularies, const LexiconSize& size,
                            Ids& frequent) {
  const int64_t sources = vocabularies.source->size(), targets = vocabularies.target->size();
  const int32_t end = vocabularies.source->special().end;
  const int64_t followed = std::max(10 * size.per_source, size.frequent);
  std::vector<Row> rows(static_cast<size_t>(sources));
  const int64_t at_once = std::clamp<int64_t>(counts_at_once / targets, 1, sources);
  std::vector<uint32_t> counts(static_cast<size_t>(at_once * targets));
  const auto row_of = [&](int64_t row) {
    return std::span(counts).subspan(static_cast<size_t>(row * targets), static_cast<size_t>(targets));
  };
  for (int64_t first = 0; first < sources; first += at_once) {
    std::ranges::fill(counts, 0);
    pairs.for_each([&](const Ids& source, const Ids& target) {
      for (const int32_t s : source) {
        if (s < first || s >= first + at_once) continue;
        const auto row = row_of(s - first);
        for (const int32_t t : target) add(row[static_cast<size_t>(t)], uint32_t{1});
      }
    });
    pairs.run(static_cast<size_t>(std::min(at_once, sources - first)), [&](size_t row) {
      const std::span<const uint32_t> counted = row_of(static_cast<int64_t>(row));
      rows[static_cast<size_t>(first) + row].begin(largest(counted, followed, uint32_t{1}));
    });
    if (first <= end && end < first + at_once)
      frequent = largest(std::span<const uint32_t>(row_of(end - first)), size.frequent, uint32_t{1});
  }
  return rows;
}

// The expectation step: divides each target piece among the source pieces in proportion to their probabilities.
void share_out(std::vector<Row>& rows, const Ids& source, const Ids& target) {
  std::vector<size_t> places(source.size());
  for (const int32_t t : target) {
    double total = 0;
    const auto probability = [&](size_t i) {
      const Row& row = rows[static_cast<size_t>(source[i])];
      return places[i] < row.words.size() ? static_cast<double>(row.probabilities[places[i]]) : 0;
    };
    for (size_t i = 0; i < source.size(); ++i) {
      places[i] = rows[static_cast<size_t>(source[i])].find(t);
      total += probability(i);
    }
    for (size_t i = 0; total > 0 && i < source.size(); ++i) {
      const auto share = static_cast<uint64_t>(probability(i) / total * unit);
      if (share > 0) add(rows[static_cast<size_t>(source[i])].shares[places[i]], share);
    }
  }
}

Ids translations_of(const Row& row, const Vocabularies& vocabularies, int32_t source,
                    const LexiconSize& size) {
  Ids words;
  const std::string& piece = vocabularies.source->piece(source);
  const int32_t same = vocabularies.target->id(piece);
  if (!vocabularies.target->is_special(same)) words.push_back(same);
  const auto least = static_cast<float>(size.min_probability);
  for (const int32_t place : largest(std::span(row.probabilities), size.per_source, least)) {
    const int32_t word = row.words[static_cast<size_t>(place)];
    if (word != same) words.push_back(word);
  }
  words.resize(std::min(words.size(), static_cast<size_t>(size.per_source)));
  return words;
}

}  // namespace

Lexicon learn_lexicon(const PreparedCorpus& corpus, const LexiconSize& size, int threads) {
  Pairs pairs(corpus, threads);
  Lexicon lexicon;
  std::vector<Row> rows = first_rows(pairs, corpus.vocabularies, size, lexicon.frequent);
  for (int round = 0; round < rounds; ++round) {
    pairs.for_each([&](const Ids& source, const Ids& target) { share_out(rows, source, target); });
    for (Row& row : rows) row.end_round();
  }
  for (size_t source = 0; source < rows.size(); ++source) {
    lexicon.translations.push_back(
        translations_of(rows[source], corpus.vocabularies, static_cast<int32_t>(source), size));
  }
  for (const Shard& shard : corpus.shards) shard.release();
  return lexicon;
}

}  // namespace dragoman::internal
