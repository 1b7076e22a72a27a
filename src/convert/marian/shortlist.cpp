#include "convert/marian/shortlist.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "convert/files/byte_reader.h"
#include "convert/files/packed.h"

namespace dragoman::internal {
namespace {

constexpr uint64_t shortlist_magic = 0xF11A48D5013417F5, max_shortlist_bytes = uint64_t{1} << 30;

// Over the 64-bit numbers in the bytes; bytes left over do not count.
uint64_t checksum(std::span<const std::byte> bytes) {
  uint64_t sum = 0;
  for (size_t at = 0; at + sizeof sum <= bytes.size(); at += sizeof sum) {
    uint64_t value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    sum ^= value + 0x9e3779b9 + (sum << 6) + (sum >> 2);
  }
  return sum;
}

}  // namespace

Lexicon read_marian_shortlist(const std::string& path, int64_t source_vocabulary, int64_t target_vocabulary,
                              bool shared) {
  const SharedBytes whole = open_packed(path, max_shortlist_bytes);
  ByteReader file(path, whole.bytes);
  if (file.left() < sizeof shortlist_magic || file.number<uint64_t>() != shortlist_magic)
    file.fail("is not a binary shortlist");
  const auto expected = file.number<uint64_t>();
  if (checksum(whole.bytes.subspan(file.position())) != expected)
    file.fail("is truncated or damaged: its checksum is wrong");
  const auto frequent = file.number<uint64_t>();
  file.number<uint64_t>();  // the maximum number of words for a source token
  const auto offsets = file.number<uint64_t>(), words = file.number<uint64_t>();
  if (offsets != static_cast<uint64_t>(source_vocabulary) + 1)
    file.fail("belongs to another model: it has lists for {} source tokens, but the vocabulary has {}",
              offsets - 1, source_vocabulary);
  ByteReader places(path, file.bytes(offsets * sizeof(uint64_t)));
  if (words > file.left() / sizeof(uint32_t))
    file.fail("is truncated or damaged: it should have {} words", words);
  ByteReader ids(path, file.bytes(words * sizeof(uint32_t)));

  Lexicon lexicon;
  lexicon.frequent.resize(std::min(frequent, static_cast<uint64_t>(target_vocabulary)));
  std::iota(lexicon.frequent.begin(), lexicon.frequent.end(), 0);
  lexicon.translations.resize(static_cast<size_t>(source_vocabulary));
  auto begin = places.number<uint64_t>();
  if (begin != 0) file.fail("is damaged: its first list begins at word {}", begin);
  for (std::vector<int32_t>& own : lexicon.translations) {
    const auto end = places.number<uint64_t>();
    if (end < begin || end > words) file.fail("is damaged: a list ends at word {} of {}", end, words);
    for (; begin < end; ++begin) {
      const auto id = ids.number<uint32_t>();
      if (id >= static_cast<uint64_t>(target_vocabulary))
        file.fail("belongs to another model: it contains the token {}, but the vocabulary has {}", id,
                  target_vocabulary);
      own.push_back(static_cast<int32_t>(id));
    }
    if (shared) own.push_back(static_cast<int32_t>(&own - lexicon.translations.data()));
  }
  return lexicon;
}

namespace {

// Of each source token, without the words below `frequent`.
std::vector<std::vector<int32_t>> listed_words(const Shortlist& shortlist, const Vocabulary& source,
                                               uint64_t frequent) {
  const std::vector<int32_t> always = shortlist.words_for({}, {});
  std::vector<std::vector<int32_t>> lists;
  for (int32_t id = 0; id < source.size(); ++id) {
    std::vector<int32_t> words = shortlist.words_for(std::span(&id, 1), {}), own;
    if (id == source.special().end) {
      std::erase_if(words, [&](int32_t word) { return static_cast<uint64_t>(word) < frequent; });
      own = words;
    } else {
      std::ranges::set_difference(words, always, std::back_inserter(own));
    }
    lists.push_back(std::move(own));
  }
  return lists;
}

// The words 0, 1, 2, … that every sentence has.
uint64_t first_words(const std::vector<int32_t>& always) {
  uint64_t count = 0;
  while (count < always.size() && static_cast<uint64_t>(always[count]) == count) ++count;
  return count;
}

template <class Number>
void append(std::string& bytes, const std::vector<Number>& numbers) {
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
}

}  // namespace

void write_marian_shortlist(const std::string& path, const Shortlist& shortlist, const Vocabulary& source,
                            int64_t lists) {
  const uint64_t frequent = first_words(shortlist.words_for({}, {}));
  std::vector<uint64_t> places = {0};
  std::vector<uint32_t> words;
  uint64_t longest = 0;
  for (const auto& list : listed_words(shortlist, source, frequent)) {
    words.insert(words.end(), list.begin(), list.end());
    places.push_back(words.size());
    longest = std::max<uint64_t>(longest, list.size());
  }
  places.resize(static_cast<size_t>(lists) + 1, words.size());
  std::string body;
  append<uint64_t>(body, {frequent, longest, places.size(), words.size()});
  append(body, places);
  append(body, words);
  std::string begin;
  append<uint64_t>(begin, {shortlist_magic, checksum(std::as_bytes(std::span(body)))});
  write_file(path, {begin, body});
}

}  // namespace dragoman::internal
