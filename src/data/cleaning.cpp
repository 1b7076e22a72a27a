#include "data/cleaning.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/threads.h"
#include "data/clean/examples.h"
#include "data/clean/judge.h"

namespace dragoman::internal {
namespace {

constexpr size_t pairs_judged_at_once = 8192, bytes_judged_at_once = 4 << 20;
constexpr size_t pairs_of_judging_task = 64;
constexpr size_t longest_kept_buffer = 1 << 16;

XXH128_hash_t hash_of_text(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  const size_t end = text.find_last_not_of(" \t\r") + 1;
  return XXH3_128bits(text.data() + begin, end - begin);
}

struct JudgedPair {
  uint64_t index = 0;
  bool invalid = false;
  Fault fault = Fault::none;
  XXH128_hash_t source_hash = {}, target_hash = {};
};

class Cleaner {
 public:
  Cleaner(const CleaningSettings& settings, const std::function<void(const CleanPair&)>& keep)
      : settings_(settings),
        keep_(keep),
        judge_(settings),
        threads_(settings.threads),
        examples_(settings.examples),
        texts_(pairs_judged_at_once),
        judged_(pairs_judged_at_once) {}

  // Whether there were more pairs.
  bool clean_block(CorpusReader& reader) {
    if (!read(reader)) return false;
    if (result_.read == 0) judge_.learn({texts_.data(), count_});
    judge_all();
    // Equal pairs have equal scores. Other duplicates are kept where those before them are left out for theirs.
    const bool scores = settings_.scorer && settings_.rules.min_score < 0,
               scores_first = settings_.rules.duplicates != Duplicates::pair;
    if (scores && scores_first) score();
    for (size_t i = 0; i < count_; ++i) find_duplicate(judged_[i]);
    if (scores && !scores_first) score();
    for (size_t i = 0; i < count_; ++i) deliver(judged_[i], texts_[i]);
    return true;
  }

  int64_t read_so_far() const { return result_.read; }

  CleaningResult finish() {
    result_.examples = examples_.take();
    return std::move(result_);
  }

 private:
  bool read(CorpusReader& reader) {
    RawPair raw;
    size_t bytes = 0;
    for (count_ = 0; count_ < texts_.size() && bytes < bytes_judged_at_once && reader.next(raw); ++count_) {
      TextPair& text = texts_[count_];
      if (text.source.capacity() + text.target.capacity() > longest_kept_buffer) text = {};
      text.source.assign(raw.source);
      text.target.assign(raw.target);
      judged_[count_] = {.index = raw.index, .invalid = raw.invalid};
      bytes += raw.source.size() + raw.target.size();
    }
    return count_ > 0;
  }

  void judge_all() {
    const size_t tasks = (count_ + pairs_of_judging_task - 1) / pairs_of_judging_task;
    threads_.for_each(tasks, [this](size_t task) { judge_some(task); });
  }

  void judge_some(size_t task) {
    const size_t end = std::min((task + 1) * pairs_of_judging_task, count_);
    for (size_t i = task * pairs_of_judging_task; i < end; ++i) {
      JudgedPair& pair = judged_[i];
      pair.fault = pair.invalid ? Fault::invalid : judge_.judge(texts_[i]);
      if (pair.fault != Fault::none) continue;
      pair.source_hash = hash_of_text(texts_[i].source);
      pair.target_hash = hash_of_text(texts_[i].target);
    }
  }

  void find_duplicate(JudgedPair& pair) {
    if (pair.fault == Fault::none && !is_new(pair)) pair.fault = Fault::duplicate;
  }

  bool is_new(const JudgedPair& pair) {
    switch (settings_.rules.duplicates) {
      case Duplicates::none:
        return true;
      case Duplicates::pair: {
        const std::array<XXH128_hash_t, 2> both = {pair.source_hash, pair.target_hash};
        return seen_[0].insert(XXH3_128bits(both.data(), sizeof both));
      }
      case Duplicates::source:
        return seen_[0].insert(pair.source_hash);
      case Duplicates::target:
        return seen_[1].insert(pair.target_hash);
      // A pair that is left out must not make duplicates of others: its other side would be lost for good.
      case Duplicates::either:
        if (seen_[0].contains(pair.source_hash) || seen_[1].contains(pair.target_hash)) return false;
        return seen_[0].insert(pair.source_hash) && seen_[1].insert(pair.target_hash);
    }
    return true;
  }

  void score() {
    std::vector<TextPair> pairs;
    for (size_t i = 0; i < count_; ++i)
      if (judged_[i].fault == Fault::none) pairs.push_back(texts_[i]);
    const std::vector<double> scores = settings_.scorer(pairs);
    CHECK(scores.size() == pairs.size(), "{} scores of {} pairs", scores.size(), pairs.size());
    for (size_t i = 0, next = 0; i < count_; ++i)
      if (judged_[i].fault == Fault::none && scores[next++] < settings_.rules.min_score)
        judged_[i].fault = Fault::score;
  }

  void deliver(const JudgedPair& pair, const TextPair& text) {
    ++result_.read;
    ++result_.counts[static_cast<size_t>(pair.fault)];
    if (pair.fault == Fault::none)
      keep_({.index = pair.index, .source = text.source, .target = text.target});
    else
      examples_.add(pair.fault, pair.index, text);
  }

  const CleaningSettings& settings_;
  const std::function<void(const CleanPair&)>& keep_;
  PairJudge judge_;
  ThreadPool threads_;
  FaultExamples examples_;
  std::array<SeenTexts, 2> seen_;  // pairs or sources, and targets
  CleaningResult result_;
  // The pairs that are in memory at once. Their strings are reused.
  std::vector<TextPair> texts_;
  std::vector<JudgedPair> judged_;
  size_t count_ = 0;
};

}  // namespace

nlohmann::ordered_json to_json(const CleaningResult& result) {
  nlohmann::ordered_json dropped, examples;
  for (size_t i = 1; i < fault_count; ++i) {
    const char* name = name_of(static_cast<Fault>(i));
    dropped[name] = result.counts[i];
    for (const FaultyPair& pair : result.examples[i])
      examples[name].push_back({{"pair", pair.index + 1}, {"source", pair.source}, {"target", pair.target}});
  }
  nlohmann::ordered_json json = {{"read", result.read}, {"kept", result.kept()}, {"dropped", dropped}};
  if (!examples.is_null()) json["examples"] = examples;
  return json;
}

CleaningResult clean(CorpusReader& pairs, const CleaningSettings& settings,
                     const std::function<void(const CleanPair&)>& keep, Preparation& work) {
  Cleaner cleaner(settings, keep);
  while (cleaner.clean_block(pairs)) {
    work.stop_if_asked();
    work.status.show("cleaning", -1, static_cast<double>(cleaner.read_so_far()));
  }
  work.status.clear();
  return cleaner.finish();
}

}  // namespace dragoman::internal
