#include "memory/part.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/checksum.h"
#include "base/error.h"

namespace dragoman::internal {
namespace {

// So many places are looked at, the rarest words' first: those of "the" alone would take longer than all else.
constexpr uint64_t max_places_of_query = 150'000;

struct QueryWord {
  const PartWord* word;
  float weight;  // idf
};

// BM25's share of a word in a segment of each length, for words that count once.
std::vector<float> shares_by_length(double mean_length) {
  constexpr double k1 = 1.2, b = 0.75;
  std::vector<float> shares(256);
  for (size_t length = 0; length < shares.size(); ++length)
    shares[length] =
        static_cast<float>((k1 + 1) / (1 + k1 * (1 - b + b * static_cast<double>(length) / mean_length)));
  return shares;
}

// A score for each segment: zeros between two uses, so that a query touches only what it needs.
std::vector<float>& scores_of_thread(size_t segments) {
  thread_local std::vector<float> scores;
  if (scores.size() < segments) scores.resize(segments);
  return scores;
}

}  // namespace

MemoryPart::MemoryPart(SharedBytes bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)) {
  const size_t size = bytes_.bytes.size();
  if (size < sizeof footer_) refuse();
  std::memcpy(&footer_, bytes_.bytes.data() + size - sizeof footer_, sizeof footer_);
  const std::string_view own(reinterpret_cast<const char*>(&footer_), offsetof(PartFooter, own_checksum));
  if (footer_.mark != part_mark || footer_.own_checksum != hash_of(own)) refuse();
  if (footer_.begins[part_sections] != size - sizeof footer_ || !std::ranges::is_sorted(footer_.begins))
    refuse();
  texts_ = text(PartSection::texts);
  begins_ = section<uint64_t>(PartSection::begins, footer_.segments);
  lengths_ = section<uint8_t>(PartSection::lengths, footer_.segments);
  keys_ = section<uint64_t>(PartSection::keys, footer_.segments);
  owners_ = section<uint32_t>(PartSection::owners, footer_.segments);
  const std::string_view words = text(PartSection::words);
  words_ = {reinterpret_cast<const PartWord*>(words.data()), words.size() / sizeof(PartWord)};
  places_ = text(PartSection::places);
}

MemoryPart MemoryPart::of(std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const auto span = std::as_bytes(std::span(*owner));
  return {SharedBytes{span, std::move(owner)}, "a part of the memory"};
}

std::string_view MemoryPart::text(PartSection section) const {
  const auto i = static_cast<size_t>(section);
  return {reinterpret_cast<const char*>(bytes_.bytes.data()) + footer_.begins[i],
          footer_.begins[i + 1] - footer_.begins[i]};
}

template <class T>
std::span<const T> MemoryPart::section(PartSection section, uint64_t count) const {
  const std::string_view bytes = text(section);
  if (footer_.begins[static_cast<size_t>(section)] % 8 != 0 || bytes.size() / sizeof(T) < count) refuse();
  return {reinterpret_cast<const T*>(bytes.data()), count};
}

void MemoryPart::refuse() const {
  throw Error("{} is damaged, or not a part of a translation memory: build the memory again", name_);
}

MemorySegmentView MemoryPart::segment(uint32_t number) const {
  if (number >= size() || begins_[number] > texts_.size()) refuse();
  std::string_view rest = texts_.substr(begins_[number]);
  uint64_t lengths[3];
  for (uint64_t& length : lengths) length = take_varint(rest);
  MemorySegmentView view;
  view.changed = static_cast<int64_t>(take_varint(rest));
  std::string_view* const texts[] = {&view.source, &view.target, &view.origin};
  for (size_t i = 0; i < 3; ++i) {
    if (lengths[i] > rest.size()) refuse();
    *texts[i] = rest.substr(0, lengths[i]);
    rest.remove_prefix(lengths[i]);
  }
  return view;
}

std::span<const uint32_t> MemoryPart::with_key(SegmentKey key, bool loose) const {
  const uint64_t first = loose ? uint64_t{key.loose} << 32 : key.number();
  const uint64_t last = loose ? first | 0xFFFFFFFF : first;
  const auto begin = std::ranges::lower_bound(keys_, first);
  const auto end = std::upper_bound(begin, keys_.end(), last);
  return owners_.subspan(static_cast<size_t>(begin - keys_.begin()), static_cast<size_t>(end - begin));
}

std::vector<uint32_t> MemoryPart::candidates(const std::vector<uint64_t>& words, size_t at_most) const {
  std::vector<QueryWord> query;
  for (const uint64_t word : words) {
    const auto found = std::ranges::lower_bound(words_, word, {}, &PartWord::number);
    if (found == words_.end() || found->number != word) continue;
    const auto segments = static_cast<double>(std::min<uint64_t>(found->segments, size()));
    query.push_back({&*found, static_cast<float>(std::log1p((size() - segments + 0.5) / (segments + 0.5)))});
  }
  std::ranges::sort(query, {}, [](const QueryWord& q) { return q.word->segments; });

  const std::vector<float> shares =
      shares_by_length(std::max(1.0, static_cast<double>(footer_.words) / std::max<double>(size(), 1)));
  std::vector<float>& scores = scores_of_thread(size());
  std::vector<uint32_t> touched;
  uint64_t looked_at = 0;
  for (const auto& [word, weight] : query) {
    if (looked_at > 0 && looked_at + word->segments > max_places_of_query) break;
    looked_at += word->segments;
    std::string_view rest = places_.substr(std::min<size_t>(word->begin, places_.size()));
    uint64_t number = 0;
    for (uint64_t i = 0; i < word->segments && !rest.empty(); ++i) {
      number += take_varint(rest);
      if (number >= size()) break;
      float& score = scores[number];
      if (score == 0) touched.push_back(static_cast<uint32_t>(number));
      score += weight * shares[lengths_[number]];
    }
  }
  // Of equals the newest.
  const auto better = [&](uint32_t a, uint32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a > b;
  };
  std::vector<uint32_t> best(std::min(at_most, touched.size()));
  std::ranges::partial_sort_copy(touched, best, better);
  for (const uint32_t number : touched) scores[number] = 0;
  return best;
}

void MemoryPart::verify() const {
  Checksum checksum;
  checksum.add(bytes_.bytes.first(footer_.begins[part_sections]));
  if (checksum.number() != footer_.checksum) refuse();
}

}  // namespace dragoman::internal
