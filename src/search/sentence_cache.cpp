#include "search/sentence_cache.h"

#include <utility>

namespace dragoman::internal {
namespace {

template <class Value>
size_t bytes_of(const std::vector<Value>& values) {
  return values.capacity() * sizeof(Value);
}

size_t bytes_of(const ScoredHypothesis& scored) {
  const Hypothesis& h = scored.hypothesis;
  size_t bytes = sizeof scored + bytes_of(h.tokens) + bytes_of(h.log_probabilities) + bytes_of(h.rows) +
                 bytes_of(h.terms.states) + bytes_of(scored.attention);
  for (const std::vector<float>& row : scored.attention) bytes += bytes_of(row);
  return bytes;
}

constexpr size_t bytes_of_an_entry = 200;  // of the list, the table and the allocator

}  // namespace

const FoundSentence* SentenceCache::find(const std::string& key) {
  const auto place = places_.find(key);
  if (place == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, place->second);
  return &place->second->found;
}

void SentenceCache::add(std::string key, const FoundSentence& found) {
  size_t bytes = bytes_of_an_entry + key.capacity();
  for (const ScoredHypothesis& hypothesis : found.hypotheses) bytes += bytes_of(hypothesis);
  if (bytes > max_bytes_ || places_.contains(key)) return;
  bytes_ += bytes;
  entries_.push_front({std::move(key), found, bytes});
  places_.emplace(entries_.front().key, entries_.begin());
  while (bytes_ > max_bytes_) {
    bytes_ -= entries_.back().bytes;
    places_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

}  // namespace dragoman::internal
