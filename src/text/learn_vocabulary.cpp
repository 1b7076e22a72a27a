// Learning a vocabulary with SentencePiece's trainer, as configured in [vocabulary].
#include <algorithm>
#include <system_error>
#include <unordered_map>

#include <sentencepiece_trainer.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/sentencepiece_check.h"
#include "text/spm_fields.h"
#include "text/term_marks.h"
#include "text/vocabulary.h"
#include "text/word_tokenizer.h"

namespace dragoman::internal {
namespace {

// The sentences as SentencePiece's trainer reads them.
class SentenceStream : public sentencepiece::SentenceIterator {
 public:
  explicit SentenceStream(const Sentences& next) : next_(next) { Next(); }

  bool done() const override { return done_; }
  void Next() override {
    const auto sentence = next_();
    done_ = !sentence;
    if (sentence) value_.assign(*sentence);
  }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  Sentences next_;
  std::string value_;
  bool done_ = false;
};

const char* model_type(PieceKind kind) {
  switch (kind) {
    case PieceKind::bpe:
      return "bpe";
    case PieceKind::unigram:
      return "unigram";
    case PieceKind::characters:
      return "char";
    case PieceKind::words:
      return "word";
  }
  return "";
}

// The number of non-empty words that occur at least min_frequency times.
int64_t frequent_words(const Sentences& next, int64_t min_frequency) {
  std::unordered_map<std::string, int64_t> counts;
  while (const auto sentence = next()) {
    for (size_t begin = 0; begin < sentence->size();) {
      const size_t end = std::min(sentence->find(' ', begin), sentence->size());
      if (end > begin) ++counts[std::string(sentence->substr(begin, end - begin))];
      begin = end + 1;
    }
  }
  return std::count_if(counts.begin(), counts.end(),
                       [&](const auto& word) { return word.second >= min_frequency; });
}

// The number of characters that need a piece: the most frequent ones that make up this share of the text.
int64_t required_characters(const Sentences& next, double coverage) {
  std::unordered_map<std::string, int64_t> counts;
  int64_t all = 0;
  while (const auto sentence = next()) {
    for (size_t begin = 0; begin < sentence->size();) {
      size_t end = begin + 1;
      while (end < sentence->size() && is_continuation((*sentence)[end])) ++end;
      ++counts[std::string(sentence->substr(begin, end - begin))];
      ++all;
      begin = end;
    }
  }
  std::vector<int64_t> sorted;
  for (const auto& [character, count] : counts) sorted.push_back(count);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  int64_t needed = 0, covered = 0;
  while (needed < static_cast<int64_t>(sorted.size()) &&
         static_cast<double>(covered) < coverage * static_cast<double>(all)) {
    covered += sorted[static_cast<size_t>(needed++)];
  }
  return needed;
}

constexpr int threads = 16;

// The number of threads is fixed since a unigram model's sums depend on it.
std::unordered_map<std::string, std::string> trainer_settings(const VocabularyConfig& config, int64_t size) {
  const bool words = config.kind == PieceKind::words;
  std::unordered_map<std::string, std::string> settings = {
      {"model_type", model_type(config.kind)},
      {"vocab_size", fmt::format("{}", size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", fmt::format("{}", words ? 1.0 : config.character_coverage)},
      {"byte_fallback", config.byte_fallback ? "true" : "false"},
      {"normalization_rule_name", words ? "identity" : "nmt_nfkc"},
      {"unk_surface", words ? " \xE2\x81\x87" : "\xE2\x81\x87"},  // ⁇
      {"unk_id", "0"},
      {"bos_id", "1"},
      {"eos_id", "2"},
      {"pad_id", "-1"},
      {"max_sentence_length", "65536"},
      {"num_threads", fmt::format("{}", threads)},
      {"minloglevel", "3"}};
  if (config.kind == PieceKind::characters && config.size == 0) {
    settings["use_all_vocab"] = "true";
    settings["vocab_size"] = "300";  // has no effect, but must leave room for special tokens and bytes
  }
  return settings;
}

// The sentences with a space between their words.
Sentences tokenized(Sentences next) {
  return [next = std::move(next), line = std::string()]() mutable -> std::optional<std::string_view> {
    const auto sentence = next();
    if (!sentence) return std::nullopt;
    line.clear();
    for (const auto& [begin, end] : tokenize_words(*sentence)) {
      if (!line.empty()) line += ' ';
      line += sentence->substr(begin, end - begin);
    }
    return line;
  };
}

// The size of a vocabulary of words, at most as configured.
int64_t size_for_words(const VocabularyConfig& config, const Sentences& next, const std::string& what) {
  constexpr auto limit = static_cast<int64_t>(max_sentencepieces);
  const int64_t all = 3 + frequent_words(next, config.min_frequency);
  if (all == 3)
    throw Error("no {} word occurs {} times: lower vocabulary.min_frequency", what, config.min_frequency);
  if (config.size > 0) return std::min(config.size, all);
  if (all <= limit) return all;
  throw Error(
      "the {} text has {} different words, more than the {} of a vocabulary: raise vocabulary.min_frequency, "
      "or set vocabulary.size",
      what, all - 3, limit - 3);
}

[[noreturn]] void cannot_learn(const VocabularyConfig& config, const std::function<Sentences()>& open,
                               const std::string& what, const std::string& reason) {
  const int64_t characters = required_characters(open(), config.character_coverage);
  const int64_t needed = characters + 3 + (config.byte_fallback ? 256 : 0);
  if (config.size > 0 && config.size < needed) {
    throw Error(
        "vocabulary.size is {}, but must be at least {} for the {} different characters of the {} text: "
        "raise it, or lower vocabulary.character_coverage",
        config.size, needed, characters, what);
  }
  throw Error("cannot learn the {} vocabulary: {}", what, reason);
}

// `control`: further tokens that are not text, separated by commas.
Vocabulary learn(const VocabularyConfig& config, const std::function<Sentences()>& open_text,
                 const std::string& what, const std::string& control) {
  const auto open = [&] {
    return config.tokenizer == WordTokenizer::simple ? tokenized(open_text()) : open_text();
  };
  if (!open()()) throw Error("no {} text to learn a vocabulary from: every line is empty or invalid", what);
  const bool words = config.kind == PieceKind::words;
  const int64_t size = words ? size_for_words(config, open(), what) : config.size;
  SentenceStream sentences(open());
  std::string model;
  auto settings = trainer_settings(config, size);
  if (!control.empty()) settings["control_symbols"] = control;
  try {
    const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &sentences, &model);
    if (!status.ok()) cannot_learn(config, open, what, status.error_message());
  } catch (const std::system_error&) {
    throw Error("cannot learn the {} vocabulary: the system refuses the {} threads for it", what, threads);
  }
  return Vocabulary(with_tokenizer(std::move(model), config.tokenizer), what + " vocabulary");
}

}  // namespace

Vocabulary learn_vocabulary(const VocabularyConfig& config, const std::function<Sentences()>& open,
                            const std::string& what) {
  return learn(config, open, what, "");
}

Vocabulary learn_vocabulary_for_terms(const VocabularyConfig& config, const std::function<Sentences()>& open,
                                      const std::string& what) {
  return learn(config, open, what, fmt::format("{},{},{}", term_begin_name, term_is_name, term_end_name));
}

}  // namespace dragoman::internal
