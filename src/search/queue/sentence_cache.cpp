#include "search/queue/sentence_cache.h"

#include <type_traits>
#include <utility>

namespace dragoman::internal {
namespace {

class Key {
 public:
  template <class Value>
  void add(const Value& value) {
    static_assert(std::is_arithmetic_v<Value> || std::is_enum_v<Value> || std::is_pointer_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void add(const std::vector<int32_t>& ids) {
    add(ids.size());
    bytes_.append(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(int32_t));
  }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// The binding does not compile once there is another option, which must then be added or left out here.
void add(Key& key, const SearchOptions& options) {
  const auto& [from, to, split_sentences, beam, nbest, beam_ending, length_penalty, penalty_form,
               length_offset, max_length, max_length_ratio, forced_end, min_length, min_length_ratio,
               no_repeat_ngram, repetition_penalty, prefix_bias, shortlist, always_allow, coverage_penalty,
               replace_unknown, memory_segments, memory_at_least, match_case, match_numbers, keep_source,
               alignment, alignment_layer, sample, temperature, top_k, top_p, seed] = options;
  const auto add_all = [&](const auto&... values) { (key.add(values), ...); };
  add_all(beam, nbest, beam_ending, length_penalty, penalty_form, length_offset, max_length, max_length_ratio,
          forced_end, min_length, min_length_ratio, no_repeat_ngram, repetition_penalty, prefix_bias,
          coverage_penalty, sample, temperature, top_k, top_p, seed);
}

void add(Key& key, const SearchTerms& terms) {
  key.add(terms.all.size());
  if (terms.all.empty()) return;
  key.add(terms.attention_layer);
  for (const SearchTerm& term : terms.all) {
    key.add(term.begin);
    key.add(term.end);
    key.add(term.forms.size());
    for (const TermForm& form : term.forms) {
      key.add(form.tokens);
      key.add(form.preferred);
    }
  }
}

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

// The binding does not compile once a request has another member, which must then be added or left out here.
std::string sentence_key(const SearchRequest& request) {
  const auto& [source, other_sources, start, prefix, forbidden, terms, neighbours, options, shortlist,
               attention_layer, marks, progress, retry_ngram] = request;
  Key key;
  key.add(source);
  key.add(other_sources.size());
  for (const std::vector<int32_t>& other : other_sources) key.add(other);
  key.add(start.has_value());
  if (start) key.add(start->all());
  key.add(prefix);
  key.add(forbidden);
  add(key, terms);
  key.add(neighbours.size());
  for (const Neighbour& neighbour : neighbours) {
    key.add(neighbour.source);
    key.add(neighbour.target);
  }
  add(key, options);
  key.add(shortlist);
  key.add(attention_layer);
  key.add(marks.end);
  key.add(marks.language);
  key.add(retry_ngram);
  return key.take();
}

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
