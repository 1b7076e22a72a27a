#include "data/align/translation_table.h"

#include <cmath>
#include <tuple>

#include "base/signals.h"

namespace dragoman::internal {
namespace {

constexpr size_t pairs_of_align_task = 1024;
constexpr size_t cells_at_once = size_t{1} << 26;
constexpr size_t longest_row = 4096;
constexpr double dirichlet = 0.01;
constexpr float kept_probability = 1e-6F;

using Ids = std::vector<int32_t>;

// exp(digamma(x)), by the asymptotic series after x is raised to where it holds.
double exp_digamma(double x) {
  double digamma = 0;
  for (; x < 6; ++x) digamma -= 1 / x;
  const double inverse = 1 / (x * x);
  digamma += std::log(x) - 0.5 / x - inverse * (1.0 / 12 - inverse * (1.0 / 120 - inverse / 252));
  return std::exp(digamma);
}

struct Counted {
  int32_t word;
  uint32_t count;
};

// The words with the highest counts, ascending by id.
Ids most_frequent(std::vector<Counted>& counted, size_t kept) {
  if (counted.size() > kept) {
    const auto more = [](const Counted& c) { return std::tuple(~c.count, c.word); };
    std::ranges::nth_element(counted, counted.begin() + static_cast<std::ptrdiff_t>(kept), {}, more);
    counted.resize(kept);
  }
  Ids words;
  for (const Counted& c : counted) words.push_back(c.word);
  std::ranges::sort(words);
  return words;
}

// Which target words occur beside each source word. Cells are in memory for some source words at a time: counters, one
// for each target word, or, for a rare source word, simply all its neighbours.
class Cooccurrences {
 public:
  Cooccurrences(const PairsToAlign& pairs, ThreadPool& threads)
      : pairs_(pairs), threads_(threads), cells_(static_cast<size_t>(pairs.source_words) + 1) {
    for_each_pair(pairs, threads, [&](size_t, const Ids& source, const Ids& target) {
      for (const int32_t s : source) add(cells_[static_cast<size_t>(s)], target.size());
      add(cells_.back(), target.size());
    });
    for (size_t& cells : cells_) cells = std::min(cells, target_words());
  }

  // How long a row may be if all of them are to have at most `entries` entries.
  size_t row_limit(size_t entries) const {
    size_t limit = longest_row;
    const auto all = [&] {
      size_t sum = 0;
      for (const size_t cells : cells_) sum += std::min(cells, limit);
      return sum;
    };
    while (limit > 1 && all() > entries) limit /= 2;
    return limit;
  }

  std::vector<Ids> rows(size_t limit) {
    std::vector<Ids> rows(cells_.size());
    for (size_t first = 0, last = 0; first < cells_.size(); first = last) {
      size_t size = 0;
      begins_.clear();
      do begins_.push_back(std::exchange(size, size + cells_[last++]));
      while (last < cells_.size() && size + cells_[last] <= cells_at_once);
      values_.assign(size, 0);
      used_.assign(begins_.size(), 0);
      fill(first);
      threads_.for_each(begins_.size(), [&](size_t i) { rows[first + i] = row(first, i, limit); });
    }
    return rows;
  }

 private:
  template <class T, class U>
  static T add(T& sum, U amount) {
    return std::atomic_ref(sum).fetch_add(static_cast<T>(amount), std::memory_order_relaxed);
  }
  size_t target_words() const { return static_cast<size_t>(pairs_.target_words); }
  bool is_dense(size_t word) const { return cells_[word] == target_words(); }

  void fill(size_t first) {
    const size_t null = cells_.size() - 1;
    const auto count = [&](size_t s, const Ids& target) {
      const size_t i = s - first;
      if (i >= begins_.size()) return;
      if (is_dense(s)) {
        for (const int32_t t : target) add(values_[begins_[i] + static_cast<size_t>(t)], 1);
        return;
      }
      const size_t at = begins_[i] + add(used_[i], target.size());
      std::ranges::transform(target, values_.begin() + static_cast<std::ptrdiff_t>(at),
                             [](int32_t t) { return static_cast<uint32_t>(t); });
    };
    for_each_pair(pairs_, threads_, [&](size_t, const Ids& source, const Ids& target) {
      for (const int32_t s : source) {
        if (static_cast<size_t>(s) >= first) count(static_cast<size_t>(s), target);
      }
      count(null, target);
    });
  }

  Ids row(size_t first, size_t i, size_t limit) {
    const std::span values = std::span(values_).subspan(begins_[i], cells_[first + i]);
    std::vector<Counted> counted;
    if (is_dense(first + i)) {
      for (size_t t = 0; t < values.size(); ++t) {
        if (values[t] > 0) counted.push_back({static_cast<int32_t>(t), values[t]});
      }
      return most_frequent(counted, limit);
    }
    std::ranges::sort(values);
    for (const uint32_t word : values) {
      if (counted.empty() || counted.back().word != static_cast<int32_t>(word))
        counted.push_back({static_cast<int32_t>(word), 0});
      ++counted.back().count;
    }
    return most_frequent(counted, limit);
  }

  const PairsToAlign& pairs_;
  ThreadPool& threads_;
  std::vector<size_t> cells_;     // of each source word, the null word last
  std::vector<size_t> begins_;    // of the source words that are in memory
  std::vector<size_t> used_;      // cells of each, where it is not dense
  std::vector<uint32_t> values_;  // their cells
};

}  // namespace

TranslationTable::TranslationTable(const PairsToAlign& pairs, size_t max_entries, ThreadPool& threads) {
  Cooccurrences cooccurrences(pairs, threads);
  const std::vector<Ids> rows = cooccurrences.rows(cooccurrences.row_limit(max_entries));
  rows_.assign(1, 0);
  for (const Ids& row : rows) {
    words_.insert(words_.end(), row.begin(), row.end());
    probabilities_.insert(probabilities_.end(), row.size(), 1.0F / static_cast<float>(row.size()));
    rows_.push_back(words_.size());
  }
  counts_.assign(words_.size(), 0);
}

TranslationTable::Place TranslationTable::find(int32_t source, int32_t target) const {
  if (source < 0 || source > null_word()) return nowhere;
  const auto words = this->words(source);
  const auto place = std::ranges::lower_bound(words, target);
  if (place == words.end() || *place != target) return nowhere;
  return static_cast<Place>(rows_[static_cast<size_t>(source)] + static_cast<size_t>(place - words.begin()));
}

void TranslationTable::normalize_row(int32_t source) {
  const auto counts = row(std::span(counts_), source);
  const auto probabilities = row(std::span(probabilities_), source);
  double total = 0;
  for (const uint64_t count : counts) total += static_cast<double>(count) / unit + dirichlet;
  const double scale = total > 0 ? 1 / exp_digamma(total) : 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double count = static_cast<double>(counts[i]) / unit + dirichlet;
    probabilities[i] = static_cast<float>(std::min(1.0, exp_digamma(count) * scale));
  }
  std::ranges::fill(counts, 0);
}

void TranslationTable::end_round(ThreadPool& threads) {
  threads.for_each(rows_.size() - 1, [&](size_t row) { normalize_row(static_cast<int32_t>(row)); });
}

void TranslationTable::finish() {
  counts_ = {};
  size_t kept = 0;
  for (size_t row = 0, begin = 0; row + 1 < rows_.size(); ++row) {
    for (size_t i = begin; i < rows_[row + 1]; ++i) {
      if (probabilities_[i] < kept_probability) continue;
      words_[kept] = words_[i];
      probabilities_[kept++] = probabilities_[i];
    }
    begin = std::exchange(rows_[row + 1], kept);
  }
  words_.resize(kept);
  probabilities_.resize(kept);
  words_.shrink_to_fit();
  probabilities_.shrink_to_fit();
}

size_t tasks_of(const PairsToAlign& pairs) {
  return (pairs.count + pairs_of_align_task - 1) / pairs_of_align_task;
}

void for_each_pair(const PairsToAlign& pairs, ThreadPool& threads,
                   const std::function<void(size_t task, const Ids& source, const Ids& target)>& body) {
  threads.for_each(tasks_of(pairs), [&](size_t task) {
    Ids source, target;
    const size_t end = std::min(pairs.count, (task + 1) * pairs_of_align_task);
    for (size_t i = task * pairs_of_align_task; i < end && stop_requested() == 0; ++i) {
      pairs.read(i, source, target);
      const size_t longer = std::max(source.size(), target.size());
      if (!source.empty() && !target.empty() && longer <= max_learned_length) body(task, source, target);
    }
  });
  if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped while learning word alignments");
}

}  // namespace dragoman::internal
