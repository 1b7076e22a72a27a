// Translator: a model, opened once, that translates and scores.
//
//   dragoman::Translator translator("models/demo");
//   std::cout << translator.translate("Where is the station?").text() << "\n";
//
// A language model continues a text instead, which its output begins with, and scores targets without a source.
//
// All requests, from however many threads, go through one continuous batch: each joins as soon as there is room, and
// gets the same bytes as if it were alone. Every member function may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dragoman/error.h"
#include "dragoman/export.h"
#include "dragoman/options.h"

namespace dragoman {

// --- What a translation consists of -----------------------------------------------------------------

// Code points [begin, end) of a text.
struct Span {
  size_t begin = 0, end = 0;
};

// A subword of the output.
struct Token {
  std::string text;  // as the vocabulary has it: "▁the"
  float log_probability = 0;
  Span span;  // in the hypothesis's text; white space belongs to none

  // With the option "alignment":
  size_t source = 0;             // the source token that it attended to most
  size_t attention_begin = 0;    // the source token that attention[0] belongs to
  std::vector<float> attention;  // of source tokens, the mean over the heads of the alignment layer
};

struct SourceToken {
  std::string text;
  Span span;  // in the source
};

// A word of the source and a word of the output that belong together: their numbers, counted from 0, and places.
struct WordAlignment {
  size_t source = 0, target = 0;
  Span source_span, target_span;
};

// A word of the output, and the probability that it is right: of a calibrated model (confidence.h); else how probable
// the model found it, the product of its tokens' probabilities.
struct WordConfidence {
  Span span;
  double confidence = 0;
};

struct Hypothesis {
  std::string text;
  double score = 0;  // log-probability, divided by the length penalty
  std::vector<Token> tokens;
  std::vector<WordAlignment> alignment;  // with the option "alignment"

  // Of a calibrated model, where the request asks for tokens: the probabilities that all and each word are right.
  std::optional<double> calibrated = {};
  std::vector<double> calibrated_words = {};

  DRAGOMAN_API std::vector<WordConfidence> words() const;
  // The calibrated one, or else the geometric mean of the tokens' probabilities.
  DRAGOMAN_API double confidence() const;
};

// What somebody has translated before (memory.h), and how similar its source is: 1 minus the share of words to change.
struct MemorySegment {
  std::string source, target;
  double similarity = 0;
  bool exact = false;
};

struct Translation {
  std::string source;                      // as it was read: invalid UTF-8 is U+FFFD
  std::vector<Hypothesis> hypotheses;      // the best first, at least one; as many as the option "nbest" says
  std::vector<SourceToken> source_tokens;  // with the option "alignment"

  bool invalid = false;  // the source was not valid UTF-8
  bool cut =
      false;  // the source was too long and was split inside a sentence, or the output reached its maximum length
  bool unknown = false;       // source or output have characters that the model has no token for
  bool repeats = false;       // the output looped, and was translated again with loops forbidden
  bool terms_missed = false;  // a term that the request gives is not in the best hypothesis as it was given
  bool too_short =
      false;  // the output is so much shorter than the source that a part of it is likely missing
  // Of a few words: the output probably has nothing to do with them. With the option "keep-source" the best hypothesis is
  // then the source and its tokens, with the confidence of the output that it replaces.
  bool unlikely = false;
  bool memory = false;  // all of it is what a memory has for the source, as it is

  std::vector<MemorySegment> memory_segments;  // those that were used, where the request has a memory

  const std::string& text() const { return hypotheses.front().text; }
};

// --- What is asked for ------------------------------------------------------------------------------

// A translation in progress: the best output so far.
struct Progress {
  std::string_view text;
  size_t final_bytes;  // leading bytes of the text that are final
};

// A part of the source with a prescribed translation: a glossary entry (glossary.h), a name, a placeholder.
//
// One of the targets appears in the output exactly once, as whole words, where the model attends to the term's
// source; the other words are the model's. The first target is preferred, the others are forms of it or alternatives;
// white space in them is one space. Of overlapping terms the leftmost wins, then the longest. Samples contain the
// terms, too. A term that the target's vocabulary cannot spell, or that does not fit into the longest output, is
// missed: Translation::terms_missed.
struct Term {
  Span source;                       // in the request's text: at least one code point
  std::vector<std::string> targets;  // at least one, each with a character that is not white space
};

class Memory;

struct Request {
  std::string text;
  Options options = {};                    // Translator::options() lists them
  std::string prefix = {};                 // beginning of the output, forced
  std::chrono::milliseconds timeout = {};  // 0: none
  std::stop_token stop = {};               // cancels the request, and frees its place within a step
  std::function<void(const Progress&)> on_progress =
      {};  // on one of the translator's threads, at each step that adds text
  bool tokens =
      true;  // false, without alignment: omit the hypotheses' tokens, which saves most of a long text's memory
  std::vector<Term> terms = {};  // whose translation is given
  // What has been translated before; read until the request is done, also where this object is gone by then. A text, or
  // a sentence of it, that the memory has is translated as there: with take_exact, and where there is no prefix. For
  // others the search prefers what was said in similar segments; the options beginning with "memory" say in which.
  const Memory* memory = nullptr;
  bool take_exact = true;
  // Clients take turns, weighted by the length of their texts. 0: the request is a client by itself.
  uint64_t client = 0;
};

struct TextPair {
  std::string source, target;
};

struct Score {
  double total = 0;  // log p of the target, its end included; NaN where the pair was too long
  std::vector<float> log_probabilities;  // of each token of the target, and of its end
  std::vector<WordAlignment> alignment;  // where it was asked for
};

struct ScoreSettings {
  int64_t max_length = 2000;  // tokens of a side; longer pairs are not scored
  bool alignment = false;
  int64_t alignment_layer = 0;     // of the decoder, the first is 1; 0: the last but one
  std::string from = {}, to = {};  // languages of a model that has several; empty: the folder's defaults
  int64_t batch_tokens = 2048;     // that are scored at once, while translations wait for their next step
  // As of a Request.
  std::chrono::milliseconds timeout = {};
  std::stop_token stop = {};
  uint64_t client = 0;
};

struct InspectionSettings {
  std::string target = {};         // a given translation to inspect; empty: the model's own
  int64_t alternatives = 5;        // translations that are listed
  int64_t max_tokens = 100;        // of the source, and of the output: the page has a weight for every pair
  std::string from = {}, to = {};  // languages of a model that has several; empty: the folder's defaults
  // As of a Request.
  std::chrono::milliseconds timeout = {};
  std::stop_token stop = {};
  uint64_t client = 0;
};

enum class Precision { as_saved, fp32, bf16, int8 };

struct TranslatorSettings {
  // auto: a GPU if one can be used, else the processor. Or cpu; cuda; cuda:1, which is the second GPU; several GPUs of
  // one kind, such as cuda:0,cuda:1, or cuda:all, which then share the requests.
  std::string device = "auto";
  int threads = 0;  // 0: all processors
  Precision precision = Precision::as_saved;
  // Sentences per batch, for each worker. 0: 32 on a processor, on a GPU as many as its memory holds well, up to 1024.
  int64_t batch = 0;
  int64_t batch_tokens = 0;  // tokens of their sources together; 0: no limit
  // Batches side by side on each device, which share the threads; 0: as many as threads, up to 8.
  int workers = 0;
  // A language model's folder, of the target's vocabulary: its log-probabilities are added, times the weight.
  std::string language_model = {};
  double language_model_weight = 0.1;
  bool verify = true;      // compare the weights with their checksums first
  size_t cache_bytes = 0;  // of the cache of translated sentences; 0: no cache
  // Each batch gets an eighth more rows, for clients that have no sentence under way: however much one client asks for,
  // the first sentences of others begin with the next step.
  bool reserves = false;
  // That are open at the same time, this one included: where `batch` is 0, they share a GPU's memory.
  int translators = 1;
};

// A translator's load and totals. A sentence equal to one in progress or in the cache is not translated again.
struct TranslatorStatistics {
  size_t waiting = 0;               // requests that have not begun
  double oldest_seconds = 0;        // waiting time of the oldest of these
  size_t sentences = 0, batch = 0;  // in progress, and at most, reserved ones included
  uint64_t requests = 0;            // done, failed ones included
  uint64_t steps = 0;               // of decoding, of all workers together
  uint64_t source_tokens = 0, target_tokens = 0;
  uint64_t merged = 0;  // sentences merged with an equal one in progress
  uint64_t cache_hits = 0, cache_misses = 0;
  size_t cache_bytes = 0;
};

struct ModelInfo {
  std::string folder;
  bool language_model = false;  // it continues texts
  std::string config;           // config.json
  std::string precision;        // of the weights: "fp32", "bf16", "int8"
  std::string instruction_set;
  int64_t parameters = 0, source_vocabulary = 0, target_vocabulary = 0;
  int64_t max_tokens = 0;  // of a sentence: the model has no positions for more
  std::vector<std::string> source_languages,
      target_languages;  // empty: not multilingual
  int threads = 0, workers = 0;
  int64_t batch = 0;  // sentences of each worker, without reserved ones
};

class DRAGOMAN_API Translator {
 public:
  explicit Translator(const std::string& folder, const TranslatorSettings& settings = {});
  // Several models with one target vocabulary, whose probabilities are averaged.
  explicit Translator(const std::vector<std::string>& folders, const TranslatorSettings& settings = {});
  ~Translator();  // cancels what is not done
  Translator(Translator&&) noexcept;
  Translator& operator=(Translator&&) noexcept;

  // Wait for the result.
  Translation translate(const std::string& text, const Options& options = {});
  std::vector<Translation> translate(std::span<const std::string> texts, const Options& options = {});

  // Return at once. A usage error is thrown here; every other error comes with the future. `on_done` is called once, on
  // one of the translator's threads, one call at a time, with a future that is ready: it should hand the result on and
  // return, and must not throw.
  std::future<Translation> submit(Request request);
  void submit(Request request, std::function<void(std::future<Translation>)> on_done);

  // Requests that were submitted and are not done, waiting ones included.
  size_t pending() const;
  // Never blocks.
  TranslatorStatistics statistics() const;
  // A new unique number for Request::client.
  static uint64_t new_client();

  // The log-probability of given translations. Of a single model, as are inspections.
  std::vector<Score> score(std::span<const TextPair> pairs, const ScoreSettings& settings = {});

  // Inspects a sentence: the JSON object of `dragoman inspect --format json`, with its translations, the
  // probability of each token, and the attention of every layer and head, in thousandths.
  std::string inspect(const std::string& text, const InspectionSettings& settings = {});

  ModelInfo info() const;
  static std::vector<OptionInfo> options();             // that a request may have
  static std::vector<OptionInfo> generation_options();  // of a request to a language model

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dragoman
