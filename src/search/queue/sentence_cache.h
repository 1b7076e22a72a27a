// SentenceCache: results of recently translated sentences (LRU).
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "search/request.h"

namespace dragoman::internal {

// Everything that a search's result depends on, as bytes: searches with equal keys have equal results. Whether progress
// is reported is not part of it.
std::string sentence_key(const SearchRequest& request);

class SentenceCache {
 public:
  // About how many bytes it may take; 0: nothing is kept.
  explicit SentenceCache(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Null where it is not there. Valid until the next add().
  const FoundSentence* find(const std::string& key);
  void add(std::string key, const FoundSentence& found);

  size_t bytes() const { return bytes_; }
  size_t size() const { return places_.size(); }

 private:
  struct Entry {
    std::string key;
    FoundSentence found;
    size_t bytes;
  };

  const size_t max_bytes_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // the newest first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> places_;
};

}  // namespace dragoman::internal
