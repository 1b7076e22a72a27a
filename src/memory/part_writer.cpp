#include "memory/part_writer.h"

#include <algorithm>
#include <span>

#include "memory/words.h"

namespace dragoman::internal {

void PartWriter::add(const MemorySegmentView& segment) {
  const uint32_t number = size();
  begins_.push_back(written_);
  std::string lengths;
  append_varint(lengths, segment.source.size());
  append_varint(lengths, segment.target.size());
  append_varint(lengths, segment.origin.size());
  append_varint(lengths, static_cast<uint64_t>(std::max<int64_t>(segment.changed, 0)));
  for (const std::string_view bytes :
       {std::string_view(lengths), segment.source, segment.target, segment.origin})
    put(bytes);

  keys_.push_back({memory_key(segment.source).number(), number});
  std::vector<uint64_t> words = memory_words(segment.source);
  lengths_.push_back(static_cast<uint8_t>(std::min<size_t>(words.size(), 255)));
  footer_.words += words.size();
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  for (const uint64_t word : words) places_.push_back({word, number});
}

void PartWriter::finish() {
  footer_.segments = size();
  put_section(PartSection::begins, begins_);
  put_section(PartSection::lengths, lengths_);
  put_keys();
  put_words();
  put(std::string(-written_ % 8, '\0'));
  footer_.begins[part_sections] = written_;
  footer_.checksum = checksum_.number();
  footer_.mark = part_mark;
  const std::string_view bytes(reinterpret_cast<const char*>(&footer_), sizeof footer_);
  footer_.own_checksum = hash_of(bytes.substr(0, offsetof(PartFooter, own_checksum)));
  write_(bytes);
}

void PartWriter::put(std::string_view bytes) {
  write_(bytes);
  checksum_.add(std::as_bytes(std::span(bytes)));
  written_ += bytes.size();
}

void PartWriter::begin(PartSection section) {
  put(std::string(-written_ % 8, '\0'));
  footer_.begins[static_cast<size_t>(section)] = written_;
}

template <class T>
void PartWriter::put_section(PartSection section, const std::vector<T>& values) {
  begin(section);
  put({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

// Of equal keys the newest segment, which is the last, comes first.
void PartWriter::put_keys() {
  std::ranges::sort(keys_, [](const Key& a, const Key& b) {
    return a.number != b.number ? a.number < b.number : a.segment > b.segment;
  });
  std::vector<uint64_t> numbers;
  std::vector<uint32_t> owners;
  for (const Key& key : keys_) {
    numbers.push_back(key.number);
    owners.push_back(key.segment);
  }
  put_section(PartSection::keys, numbers);
  put_section(PartSection::owners, owners);
}

void PartWriter::put_words() {
  std::ranges::sort(places_, [](const Place& a, const Place& b) {
    return a.word != b.word ? a.word < b.word : a.segment < b.segment;
  });
  std::vector<PartWord> words;
  std::string places;
  for (size_t i = 0; i < places_.size(); ++i) {
    const bool is_first = words.empty() || words.back().number != places_[i].word;
    if (is_first) words.push_back({.number = places_[i].word, .begin = places.size()});
    append_varint(places, places_[i].segment - (is_first ? 0 : places_[i - 1].segment));
    ++words.back().segments;
  }
  put_section(PartSection::words, words);
  begin(PartSection::places);
  put(places);
}

}  // namespace dragoman::internal
