#include "data/survey.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <queue>
#include <system_error>

#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "text/term_marks.h"

namespace dragoman::internal {
namespace {

enum class Side { source, target, both };

std::vector<uint64_t> count_pairs(const DataConfig& data, Preparation& work) {
  const std::vector<CorpusSource> sources = corpus_sources(data);
  const auto bytes = static_cast<double>(std::max(stored_bytes(sources), uint64_t{1}));
  CorpusReader reader(sources, data.swap, data.limit);
  std::vector<uint64_t> begins(sources.size() + 1, 0);
  for (RawPair pair; reader.next(pair);) {
    ++begins[static_cast<size_t>(pair.origin) + 1];
    if (pair.index % 4096 != 0) continue;
    work.stop_if_asked();
    work.status.show("counting", static_cast<double>(reader.bytes_read()) / bytes,
                     static_cast<double>(pair.index));
  }
  for (size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  return begins;
}

std::vector<uint64_t> choose_held_out(uint64_t pairs, uint64_t count) {
  std::priority_queue<std::pair<uint64_t, uint64_t>> smallest;  // hash and index; the largest hash on top
  for (uint64_t pair = 0; count > 0 && pair < pairs; ++pair) {
    smallest.emplace(mix(mix(0, "held out"), pair), pair);
    if (smallest.size() > count) smallest.pop();
  }
  std::vector<uint64_t> chosen;
  for (; !smallest.empty(); smallest.pop()) chosen.push_back(smallest.top().second);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// Selection sampling (Knuth's algorithm S): takes each item with probability wanted / remaining, storing nothing.
class EvenSample {
 public:
  EvenSample(uint64_t wanted, uint64_t all) : wanted_(wanted), all_(all), random_(mix(0, "sample")) {}

  bool takes_next() {
    const bool take = wanted_ >= all_ || random_.below(all_) < wanted_;
    --all_;
    if (take) --wanted_;
    return take;
  }

 private:
  uint64_t wanted_, all_;
  Random random_;
};

// The sentences to learn one vocabulary from.
Sentences sentences_of(const DataConfig& data, const Survey& survey, Side side, int64_t learn_from,
                       const Preparation& work) {
  struct State {
    CorpusReader reader;
    EvenSample sample;
    RawPair pair = {};
    bool target_waits = false;
    std::string source = {}, target = {};  // with the noise that the model will see
  };
  const int64_t wanted = side == Side::both ? std::max<int64_t>(learn_from / 2, 1) : learn_from;
  auto state =
      std::make_shared<State>(State{.reader = CorpusReader(corpus_sources(data), data.swap, data.limit),
                                    .sample = EvenSample(static_cast<uint64_t>(wanted), survey.pairs())});
  return [state, &data, &survey, side, &work]() -> std::optional<std::string_view> {
    if (state->target_waits) {
      state->target_waits = false;
      return state->target;
    }
    while (state->reader.next(state->pair)) {
      if (state->pair.index % 4096 == 0) work.stop_if_asked();
      if (!state->sample.takes_next() || state->pair.invalid || survey.is_held_out(state->pair.index))
        continue;
      if (is_blank(state->pair)) continue;
      state->target_waits = side == Side::both;
      state->source.assign(state->pair.source);
      state->target.assign(state->pair.target);
      add_noise(data.noise, state->pair.index, data.from, data.to, state->source, state->target);
      return side == Side::target ? state->target : state->source;
    }
    return std::nullopt;
  };
}

}  // namespace

bool Survey::is_held_out(uint64_t pair) const {
  return std::binary_search(held_out.begin(), held_out.end(), pair);
}

Survey survey_corpus(const DataConfig& data, Preparation& work) {
  Survey survey = {.source_begins = count_pairs(data, work), .held_out = {}};
  if (survey.pairs() == 0) {
    throw Error("the corpus is empty: there is no line in {}", corpus_sources(data).front().name());
  }
  const auto hold_out = static_cast<uint64_t>(data.hold_out);
  if (hold_out >= survey.pairs()) {
    throw Error("data.hold_out is {}, but the corpus has only {} pairs: hold out fewer", hold_out,
                survey.pairs());
  }
  survey.held_out = choose_held_out(survey.pairs(), hold_out);
  return survey;
}

Vocabularies make_vocabularies(const DataConfig& data, const VocabularyConfig& vocabulary,
                               const Survey& survey, int threads, Preparation& work) {
  if (!vocabulary.from.empty()) {
    Vocabularies known = read_vocabularies(vocabulary.from);
    if (is_one_sided(data)) known.source = known.target;
    return known;
  }
  const auto learn = [&](Side side, const char* what) {
    const auto task = [&, side, what] {
      const auto open = [&] { return sentences_of(data, survey, side, vocabulary.learn_from, work); };
      return std::make_shared<const Vocabulary>(
          (data.terms.empty() ? learn_vocabulary : learn_vocabulary_for_terms)(vocabulary, open, what));
    };
    try {
      return std::async(std::launch::async, task);
    } catch (const std::system_error&) {  // no more threads
      return std::async(std::launch::deferred, task);
    }
  };
  const bool can_be_filled = vocabulary.kind == PieceKind::bpe || vocabulary.kind == PieceKind::unigram;
  const auto result = [&](auto& learning, const char* what) {
    while (learning.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout) {
      const char* doing = "learning the vocabulary";
      if (work.is_to_stop()) doing = "stopping when the vocabulary is learned";
      if (stop_requested() == SIGINT)
        doing = "stopping when the vocabulary is learned; Ctrl-C again stops at once";
      work.status.show(doing, -1);
    }
    work.status.clear();
    work.stop_if_asked();
    auto learned = learning.get();
    const char* fewer =
        learned->size() < vocabulary.size && can_be_filled ? ", all that the text yields" : "";
    log_info("{} vocabulary: {} {}{}", what, with_commas(learned->size()), name_of_pieces(vocabulary.kind),
             fewer);
    return learned;
  };
  Vocabularies both;
  if (is_one_sided(data)) {
    auto only = learn(Side::target, "the");
    both.source = both.target = result(only, "the");
    return both;
  }
  const char* first = vocabulary.shared ? "shared" : "source";
  auto source = learn(vocabulary.shared ? Side::both : Side::source, first);
  if (vocabulary.shared || threads == 1) both.source = result(source, first);
  if (vocabulary.shared) {
    both.target = both.source;
    return both;
  }
  auto target = learn(Side::target, "target");
  if (!both.source) both.source = result(source, first);
  both.target = result(target, "target");
  return both;
}

}  // namespace dragoman::internal
