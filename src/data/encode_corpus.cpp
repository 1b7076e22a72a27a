#include "data/encode_corpus.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/line_writer.h"
#include "base/threads.h"
#include "data/shards.h"
#include "data/term_lexicon.h"
#include "text/sentences.h"
#include "text/word_encoder.h"

namespace dragoman::internal {
namespace {

constexpr size_t block_pairs = 8192, block_bytes = 4 << 20;
constexpr size_t task_pairs = 64;
constexpr uint64_t max_shards = 200;      // two open files each
constexpr uint64_t sentences_every = 61;  // pairs: one whose source is split into sentences

enum class PairOutcome { kept, held_out, invalid, empty, too_long, ratio };

struct PendingPair {
  uint64_t index = 0;
  bool invalid = false, one_sided = false;
  std::string source_text, target_text;
  std::vector<int32_t> source, target;
  bool has_terms = false, has_noise = false;
  size_t sentences = 0;  // of the source; 0: it was not looked at
  PairOutcome outcome = PairOutcome::kept;
};

// The pairs that are in memory at once. Their strings are reused.
struct Block {
  std::vector<PendingPair> pairs = std::vector<PendingPair>(block_pairs);
  size_t count = 0;

  bool read(CorpusReader& reader) {
    count = 0;
    RawPair raw;
    for (size_t bytes = 0; count < block_pairs && bytes < block_bytes && reader.next(raw); ++count) {
      PendingPair& pair = pairs[count];
      if (pair.source_text.capacity() + pair.target_text.capacity() > (1 << 16))
        pair = {};  // release the memory of a very long line
      pair.index = raw.index;
      pair.invalid = raw.invalid;
      pair.one_sided = raw.one_sided;
      pair.source_text.assign(raw.source);
      pair.target_text.assign(raw.target);
      bytes += raw.source.size() + raw.target.size();
    }
    return count > 0;
  }
};

class Encoder {
 public:
  Encoder(const DataConfig& data, const Vocabularies& vocabularies, const Survey& survey, int threads)
      : data_(data), survey_(survey), vocabulary_(*vocabularies.source), threads_(threads) {
    if (!data.terms.empty()) terms_.emplace(data.terms);
    for (int i = 0; i < threads_.size(); ++i) {
      sources_.emplace_back(*vocabularies.source);
      targets_.emplace_back(*vocabularies.target);
    }
  }

  void encode(Block& block) {
    const size_t tasks = (block.count + task_pairs - 1) / task_pairs;
    threads_.for_each(tasks, [&](size_t task, size_t worker) {
      const size_t end = std::min((task + 1) * task_pairs, block.count);
      for (size_t i = task * task_pairs; i < end; ++i) encode_pair(block.pairs[i], worker);
    });
  }

 private:
  void encode_pair(PendingPair& pair, size_t worker) {
    pair.outcome = PairOutcome::invalid;
    if (pair.invalid) return;
    if (is_no_sentence(pair.source_text, data_.max_length) ||
        is_no_sentence(pair.target_text, data_.max_length)) {
      pair.outcome = PairOutcome::too_long;
      return;
    }
    encode_texts(pair, pair.source_text, pair.target_text, worker);
    pair.outcome = judge(pair);
    pair.has_noise = pair.outcome == PairOutcome::kept && encode_with_noise(pair, worker);
    pair.has_terms = pair.outcome == PairOutcome::kept && terms_ && !pair.has_noise && add_terms(pair);
    const bool counts = pair.outcome == PairOutcome::kept && pair.index % sentences_every == 0;
    pair.sentences = counts ? split_sentences(pair.source_text, data_.from).size() : 0;
  }

  void encode_texts(PendingPair& pair, std::string_view source, std::string_view target, size_t worker) {
    pair.source = sources_[worker].encode(source);
    pair.target = targets_[worker].encode(target);
  }

  // No pair is left out because of its noise: capitals have more subwords.
  bool encode_with_noise(PendingPair& pair, size_t worker) {
    std::string source = pair.source_text, target = pair.target_text;
    if (!add_noise(data_.noise, pair.index, data_.from, data_.to, source, target)) return false;
    encode_texts(pair, source, target, worker);
    if (judge(pair) == PairOutcome::kept) return true;
    encode_texts(pair, pair.source_text, pair.target_text, worker);
    return false;
  }

  // Where there is room for them: no pair is left out because of its terms.
  bool add_terms(PendingPair& pair) const {
    const auto terms =
        chosen_terms(*terms_, data_.terms_share, pair.index, pair.source_text, pair.target_text);
    if (terms.empty()) return false;
    PiecesOfText pieces = with_terms(vocabulary_.encode_with_spans(pair.source_text), terms, vocabulary_);
    if (pieces.ids.size() > static_cast<size_t>(data_.max_length)) return false;
    pair.source = std::move(pieces.ids);
    return true;
  }

  PairOutcome judge(const PendingPair& pair) const {
    const auto [shorter, longer] =
        std::minmax({pair.one_sided ? pair.target.size() : pair.source.size(), pair.target.size()});
    if (shorter == 0) return PairOutcome::empty;
    if (survey_.is_held_out(pair.index)) return PairOutcome::held_out;
    if (longer > static_cast<size_t>(data_.max_length)) return PairOutcome::too_long;
    const bool uneven = static_cast<double>(longer) > data_.max_ratio * static_cast<double>(shorter);
    return data_.max_ratio > 0 && uneven ? PairOutcome::ratio : PairOutcome::kept;
  }

  const DataConfig& data_;
  const Survey& survey_;
  const Vocabulary& vocabulary_;  // the source's
  std::optional<TermLexicon> terms_;
  ThreadPool threads_;
  std::vector<WordEncoder> sources_, targets_;  // one per thread
};

// Writes the encoded pairs in their order.
class Sink {
 public:
  Sink(const Vocabularies& vocabularies, const Survey& survey, const std::string& folder,
       uint64_t fingerprint, uint64_t shard_pairs)
      : result_{.counts = {},
                .source = {.unknown_id = vocabularies.source->special().unknown},
                .target = {.unknown_id = vocabularies.target->special().unknown}} {
    const uint64_t shards =
        std::clamp<uint64_t>((survey.pairs() + shard_pairs - 1) / shard_pairs, 1, max_shards);
    const int64_t largest = std::max(vocabularies.source->size(), vocabularies.target->size());
    for (uint64_t i = 0; i < shards; ++i) {
      shards_.emplace_back(shard_path(folder, static_cast<int64_t>(i)), largest <= (1 << 16) ? 2 : 4,
                           fingerprint);
    }
    if (survey.held_out.empty()) return;
    for (const char* side : {"source", "target"}) held_out_.emplace_back(held_out_path(folder, side));
  }

  void take(const PendingPair& pair) {
    CorpusCounts& counts = result_.counts;
    ++counts.read;
    switch (pair.outcome) {
      case PairOutcome::kept:
        return keep(pair);
      case PairOutcome::held_out:
        return hold_out(pair);
      case PairOutcome::invalid:
        ++counts.left_out.invalid;
        return;
      case PairOutcome::empty:
        ++counts.left_out.empty;
        return;
      case PairOutcome::too_long:
        ++counts.left_out.too_long;
        return;
      case PairOutcome::ratio:
        ++counts.left_out.ratio;
        return;
    }
  }

  EncodingResult finish() {
    for (ShardWriter& shard : shards_) shard.finish();
    for (LineWriter& side : held_out_) side.finish();
    result_.shards = static_cast<int64_t>(shards_.size());
    return std::move(result_);
  }

 private:
  void keep(const PendingPair& pair) {
    shards_[static_cast<size_t>(result_.counts.kept) % shards_.size()].add(pair.index, pair.source,
                                                                           pair.target);
    ++result_.counts.kept;
    result_.counts.source_tokens += static_cast<int64_t>(pair.source.size());
    result_.counts.target_tokens += static_cast<int64_t>(pair.target.size());
    result_.with_terms += pair.has_terms;
    result_.with_noise += pair.has_noise;
    result_.looked_at += pair.sentences > 0;
    result_.several_sentences += pair.sentences > 1;
    result_.source.add(pair.source);
    result_.target.add(pair.target);
  }

  void hold_out(const PendingPair& pair) {
    ++result_.counts.held_out;
    held_out_[0].add(pair.source_text);
    held_out_[1].add(pair.target_text);
  }

  EncodingResult result_;
  std::vector<ShardWriter> shards_;
  std::vector<LineWriter> held_out_;  // source and target
};

}  // namespace

void SideStatistics::add(const std::vector<int32_t>& ids) {
  if (lengths.size() <= ids.size()) lengths.resize(ids.size() + 1, 0);
  ++lengths[ids.size()];
  unknown += std::count(ids.begin(), ids.end(), unknown_id);
}

int64_t SideStatistics::percentile(double share) const {
  int64_t sentences = 0, passed = 0;
  for (const int64_t count : lengths) sentences += count;
  for (size_t length = 0; length < lengths.size(); ++length) {
    passed += lengths[length];
    if (passed > 0 && static_cast<double>(passed) >= share * static_cast<double>(sentences)) {
      return static_cast<int64_t>(length);
    }
  }
  return 0;
}

EncodingResult encode_corpus(const DataConfig& data, const Vocabularies& vocabularies, const Survey& survey,
                             const std::string& folder, uint64_t fingerprint, int threads, Preparation& work,
                             uint64_t shard_pairs) {
  CorpusReader reader(corpus_sources(data), data.swap, data.limit);
  Encoder encoder(data, vocabularies, survey, threads);
  Sink sink(vocabularies, survey, folder, fingerprint, shard_pairs);
  Block block;
  uint64_t done = 0;
  while (block.read(reader)) {
    work.stop_if_asked();
    encoder.encode(block);
    for (size_t i = 0; i < block.count; ++i) sink.take(block.pairs[i]);
    done += block.count;
    work.status.show("encoding", static_cast<double>(done) / static_cast<double>(survey.pairs()),
                     static_cast<double>(done));
  }
  work.status.clear();
  if (done != survey.pairs()) throw Error("the corpus changed while it was being prepared: prepare it again");
  return sink.finish();
}

std::string held_out_path(const std::string& folder, const char* side) {
  return (std::filesystem::path(folder) / (std::string("held-out.") + side)).string();
}

}  // namespace dragoman::internal
