#include "search/neighbours.h"

#include <algorithm>
#include <utility>

namespace dragoman::internal {
namespace {

constexpr int64_t tokens_at_once = 2048;  // of a side, in one pass through the model

std::string key_of(const Neighbour& neighbour, const StartTokens& start) {
  std::string key;
  for (const std::vector<int32_t>* ids : {&start.all(), &neighbour.source, &neighbour.target}) {
    const size_t size = ids->size();
    key.append(reinterpret_cast<const char*>(&size), sizeof size);
    key.append(reinterpret_cast<const char*>(ids->data()), size * sizeof(int32_t));
  }
  return key;
}

void add_to(PackedSide& side, const std::vector<int32_t>& ids) {
  side.add(ids.data(), ids.data() + ids.size());
}

}  // namespace

NeighbourStates::NeighbourStates(Ensemble& ensemble, int32_t end, int64_t max_kept)
    : ensemble_(ensemble), end_(end), max_rows_(max_kept / ensemble.width()) {}

// Of the start tokens the last alone has a row that is kept.
const NeighbourStates::Kept& NeighbourStates::find(const Neighbour& neighbour, const StartTokens& start) {
  std::string key = key_of(neighbour, start);
  if (const auto place = places_.find(key); place != places_.end()) {
    kept_.splice(kept_.begin(), kept_, place->second);
    return kept_.front();
  }
  Kept& kept = kept_.emplace_front(Kept{.key = std::move(key), .rows = {}});
  places_.emplace(kept.key, kept_.begin());
  Waiting waiting = {.source = neighbour.source, .read = start.all(), .rows = {}};
  waiting.read.insert(waiting.read.end(), neighbour.target.begin(), neighbour.target.end());
  for (size_t i = 0; i < waiting.read.size(); ++i) waiting.rows.push_back(rows_.take());
  kept.rows = waiting.rows;
  kept_rows_ += std::ssize(kept.rows);
  waiting_.push_back(std::move(waiting));
  return kept;
}

KnownStates NeighbourStates::open(std::span<const Neighbour> neighbours, const StartTokens& start,
                                  std::span<const int32_t> words) {
  std::vector<std::pair<int32_t, int32_t>> states;  // columns and rows
  for (const Neighbour& neighbour : neighbours) {
    const std::span<const int32_t> rows =
        std::span(find(neighbour, start).rows).subspan(start.forced_length());
    for (size_t i = 0; i < rows.size(); ++i) {
      const int32_t word = i < neighbour.target.size() ? neighbour.target[i] : end_;
      const auto place = std::ranges::lower_bound(words, word);
      if (words.empty()) {
        states.emplace_back(word, rows[i]);
      } else if (place != words.end() && *place == word) {
        states.emplace_back(static_cast<int32_t>(place - words.begin()), rows[i]);
      }
    }
  }
  std::ranges::stable_sort(states, {}, &std::pair<int32_t, int32_t>::first);
  KnownStates known;
  for (const auto& [word, row] : states) {
    known.words.push_back(word);
    known.rows.push_back(row);
  }
  rows_.share(known.rows);
  return known;
}

void NeighbourStates::compute() {
  while (!waiting_.empty()) {
    PackedSide sources, read;
    std::vector<int32_t> rows;
    size_t count = 0;
    for (; count < waiting_.size(); ++count) {
      const Waiting& next = waiting_[count];
      const size_t tokens = std::max(sources.ids.size() + next.source.size(), rows.size() + next.rows.size());
      if (count > 0 && tokens > static_cast<size_t>(tokens_at_once)) break;
      add_to(sources, next.source);
      add_to(read, next.read);
      rows.insert(rows.end(), next.rows.begin(), next.rows.end());
    }
    ensemble_.keep_states(sources, read, rows);
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  drop_oldest();
}

void NeighbourStates::drop_oldest() {
  while (kept_rows_ > max_rows_) {
    const Kept& oldest = kept_.back();
    kept_rows_ -= std::ssize(oldest.rows);
    rows_.release(oldest.rows);
    places_.erase(oldest.key);
    kept_.pop_back();
  }
}

}  // namespace dragoman::internal
