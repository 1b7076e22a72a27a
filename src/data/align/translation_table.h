// p(target word | source word) for the pairs of words that occur together, as IBM model 1 and its successors have it,
// and the expected counts of the round of expectation maximisation that estimates it.
//
// Rows are sorted, one for each source word and a last one for the null word, which explains target words that
// translate nothing. A row keeps the target words that it occurs with most. Counts are integers in fixed point, so that
// their sums do not depend on the order in which threads add.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/threads.h"

namespace dragoman::internal {

// The pairs to learn from. `read` replaces the contents of both vectors; it is called from several threads at a time,
// several times for each pair.
struct PairsToAlign {
  size_t count = 0;
  std::function<void(size_t pair, std::vector<int32_t>& source, std::vector<int32_t>& target)> read;
  int32_t source_words = 0, target_words = 0;  // ids of each side are below these
};

class TranslationTable {
 public:
  using Place = uint32_t;
  static constexpr Place nowhere = UINT32_MAX;
  // Of a pair of words that is not in the table.
  static constexpr float least_probability = 1e-9F;

  TranslationTable() = default;
  // Every row uniform; at most max_entries entries.
  TranslationTable(const PairsToAlign& pairs, size_t max_entries, ThreadPool& threads);

  int32_t null_word() const { return static_cast<int32_t>(rows_.size()) - 2; }
  Place find(int32_t source, int32_t target) const;
  float probability(Place place) const {
    return place == nowhere ? least_probability : std::max(least_probability, probabilities_[place]);
  }
  float probability(int32_t source, int32_t target) const { return probability(find(source, target)); }

  // One row: target words, ascending, and their probabilities.
  std::span<const int32_t> words(int32_t source) const { return row(std::span(words_), source); }
  std::span<const float> probabilities(int32_t source) const {
    return row(std::span(probabilities_), source);
  }

  void add_count(Place place, double count) {
    const auto amount = static_cast<uint64_t>(count * unit);
    if (place != nowhere && amount > 0)
      std::atomic_ref(counts_[place]).fetch_add(amount, std::memory_order_relaxed);
  }
  // Probabilities from the counts, which are zero again. The estimate is the posterior's under a sparse Dirichlet prior
  // (Riley and Gildea, 2012): a rare source word does not explain all that occurs beside it.
  void end_round(ThreadPool& threads);
  // Frees what only learning needs, and the entries that are improbable.
  void finish();

 private:
  static constexpr double unit = 4294967296.0;

  template <class T>
  std::span<T> row(std::span<T> all, int32_t source) const {
    const auto s = static_cast<size_t>(source);
    return all.subspan(rows_[s], rows_[s + 1] - rows_[s]);
  }
  void normalize_row(int32_t source);

  std::vector<size_t> rows_ = {0, 0};  // where each begins
  std::vector<int32_t> words_;
  std::vector<float> probabilities_;
  std::vector<uint64_t> counts_;
};

// Calls body(task, source, target) for each pair with two sides of at most max_learned_length words. A task's pairs
// come in their order. Throws Stopped if a signal asked to stop.
constexpr size_t max_learned_length = 200;
void for_each_pair(const PairsToAlign& pairs, ThreadPool& threads,
                   const std::function<void(size_t task, const std::vector<int32_t>& source,
                                            const std::vector<int32_t>& target)>& body);
size_t tasks_of(const PairsToAlign& pairs);

}  // namespace dragoman::internal
