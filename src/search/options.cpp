#include "search/options.h"

#include <algorithm>
#include <cmath>

#include "text/language_tokens.h"

namespace dragoman::internal {
namespace {

constexpr auto sentence_rules = {"auto", "none", "any"};  // besides languages

constexpr int64_t most_neighbours = 16;

constexpr int64_t always_allowed = 10;  // tokens: a short source may need many more than it has

void declare_memory(Section& own, SearchOptions& o) {
  own.add(
      "memory-segments", o.memory_segments,
      "with a translation memory: similar segments that the search for a sentence looks at; 0: only exact "
      "matches are used",
      at_least(0).at_most(most_neighbours));
  own.add("memory-at-least", o.memory_at_least,
          "similarity of these segments, the share of words that need no change", at_least(0).at_most(1));
  own.add("match-case", o.match_case, "a memory's segment in other letters is another one");
  own.add("match-numbers", o.match_numbers, "a memory's segment with other numbers is another one");
}

}  // namespace

SearchOptions language_model_search() {
  return {.max_length = 100, .max_length_ratio = 0, .sample = true, .top_p = 0.9};
}

void declare_languages(Section& own, std::string& from, std::string& to) {
  own.add("from", from, "source language, such as en; of a multilingual model one that dragoman info lists");
  own.add("to", to, "target language");
}

void declare_alignment_layer(Section& own, int64_t& layer) {
  own.add(
      "alignment-layer", layer,
      "decoder layer whose attention aligns words, counted from 1; 0: the one that guided alignment taught, "
      "else the last but one",
      at_least(0));
}

void declare_output(Section& own, SearchOptions& o) {
  own.add("beam", o.beam, "beam size; 1: greedy search; not with --sample", at_least(1).at_most(1000));
  own.add("nbest", o.nbest, "outputs of each line, the best first", at_least(1).at_most(1000));
  own.add("beam-ending", o.beam_ending,
          "how finished hypotheses share the beam; shared: each takes a place in its step; top: as shared, "
          "until the best of a step finishes (OpenNMT-py); narrowing: each takes its place for good "
          "(Marian); separate: they take no place (Hugging Face's transformers); early: as separate, until "
          "`beam` have finished (CTranslate2); first: as early, keeping the first `beam` (fairseq)",
          {{"shared", BeamEnding::shared},
           {"top", BeamEnding::top},
           {"narrowing", BeamEnding::narrowing},
           {"separate", BeamEnding::separate},
           {"early", BeamEnding::early},
           {"first", BeamEnding::first}});
  own.add("length-penalty", o.length_penalty, "exponent A of the length penalty, by which scores are divided",
          at_least(0));
  own.add("penalty-form", o.penalty_form, "length penalty of n subwords: ((5 + n) / 6)^A, or n^A",
          {{"gnmt", LengthPenalty::gnmt}, {"plain", LengthPenalty::plain}});
  own.add("length-offset", o.length_offset,
          "added to n in the length penalty; 1 as in OpenNMT-py, which counts the start token", at_least(0));
  own.add("max-length", o.max_length, "longest output, in subwords", at_least(1).at_most(100'000));
  own.add("forced-end", o.forced_end,
          "give the end token probability 1 at the maximum length, as Hugging Face's transformers does");
  own.add("min-length", o.min_length, "shortest output, in subwords; overrides max-length-ratio",
          at_least(0));
  own.add("no-repeat-ngram", o.no_repeat_ngram, "do not repeat any N subwords in a row; 0: no limit",
          at_least(0));
  own.add("repetition-penalty", o.repetition_penalty,
          "multiplies the log-probability of subwords already in the output", at_least(1));
  own.add("sample", o.sample,
          "draw nbest outputs from the model instead of searching for the best; equal ones are kept once");
  own.add("temperature", o.temperature,
          "sampling temperature: below 1 favours likely subwords, above 1 varies more", above(0));
  own.add("top-k", o.top_k, "sample from the K most likely subwords; 0: all", at_least(0));
  own.add("top-p", o.top_p, "sample from the most likely subwords that add up to this probability",
          above(0).at_most(1));
  own.add("seed", o.seed, "sampling seed; the same line and seed give the same samples", at_least(0));
}

void declare(Section& own, SearchOptions& o) {
  declare_languages(own, o.from, o.to);
  own.add(
      "split-sentences", o.split_sentences,
      "split lines into sentences first; auto: unless the model was trained on lines of several; none; or "
      "by the rules of a language, such as en, or any");
  declare_output(own, o);
  own.add("max-length-ratio", o.max_length_ratio, "longest output per source subword, plus 10; 0: no limit",
          at_least(0));
  own.add("min-length-ratio", o.min_length_ratio, "shortest output per source subword", at_least(0));
  own.add("shortlist", o.shortlist,
          "restrict the output to the shortlist's subwords for the sentence: faster on processors");
  own.add("always-allow", o.always_allow, "file of words to allow in addition to the shortlist, one per line")
      .shows("FILE");
  own.add("coverage-penalty", o.coverage_penalty,
          "rerank the finished hypotheses by score + X * coverage, the log of how much of the source was "
          "attended to",
          at_least(0));
  own.add("replace-unknown", o.replace_unknown,
          "read characters that the vocabulary lacks as plainer ones, such as straight quotes, or else copy "
          "their "
          "words to the output");
  own.add("keep-source", o.keep_source,
          "give back up to three words as they are where their translation has the flag `unlikely`");
  declare_alignment_layer(own, o.alignment_layer);
  declare_memory(own, o);
}

void validate(const SearchOptions& o) {
  if (!std::ranges::count(sentence_rules, o.split_sentences))
    check_language(o.split_sentences, "split-sentences");
  if (!o.sample && o.nbest > o.beam) {
    throw OptionError("nbest", fmt::format("is {}, but a beam of {} finds at most {}: widen the beam",
                                           o.nbest, o.beam, o.beam));
  }
  const auto for_samples = [&](bool set, const char* key) {
    if (set && !o.sample) throw OptionError(key, "has no effect without sample");
  };
  for_samples(o.temperature != 1, "temperature");
  for_samples(o.top_k != 0, "top-k");
  for_samples(o.top_p != 1, "top-p");
  for_samples(o.seed != SearchOptions().seed, "seed");
  if (o.sample && o.beam != SearchOptions().beam)
    throw OptionError("beam",
                      "has no effect with sample, where nbest is the number of samples: leave it out");
  if (!o.always_allow.empty() && !o.shortlist)
    throw OptionError("always-allow", "has no effect without shortlist, where all words are allowed");
  if (o.always_allow == "-")
    throw OptionError("always-allow", "must be a file: the lines to translate come from standard input");
  if (o.length_penalty == 0 && o.penalty_form != SearchOptions().penalty_form)
    throw OptionError("penalty-form", "has no effect where length-penalty is 0");
  if (o.coverage_penalty > 0 && (o.sample || o.beam == 1))
    throw OptionError("coverage-penalty", "has no effect without a beam: there is nothing to rank");
  if (o.alignment_layer > 0 && !needs_attention(o)) {
    throw OptionError("alignment-layer",
                      "has no effect without alignment, attention, coverage-penalty or replace-unknown");
  }
  if (o.min_length > o.max_length) {
    throw OptionError("min-length",
                      fmt::format("is {}, but max-length is only {}", o.min_length, o.max_length));
  }
  if (o.max_length_ratio > 0 && o.min_length_ratio > o.max_length_ratio) {
    throw OptionError("min-length-ratio", fmt::format("is {}, but max-length-ratio is only {}",
                                                      o.min_length_ratio, o.max_length_ratio));
  }
}

bool needs_attention(const SearchOptions& o) {
  return o.coverage_penalty > 0 || o.replace_unknown || o.alignment;
}

int64_t beam_width(const SearchOptions& options) { return options.sample ? options.nbest : options.beam; }

BeamEnding ending_of(const SearchOptions& options) {
  return options.sample || options.beam == 1 ? BeamEnding::shared : options.beam_ending;
}

bool ends_separately(const SearchOptions& options) {
  const BeamEnding ending = ending_of(options);
  return ending == BeamEnding::separate || ending == BeamEnding::early || ending == BeamEnding::first;
}

// Twice as many: were the better half to end, the other half would stay open.
int64_t candidate_count(const SearchOptions& options) {
  return ends_separately(options) ? 2 * options.beam : beam_width(options);
}

int64_t max_output_length(const SearchOptions& options, int64_t source_length) {
  const double by_ratio = std::ceil(options.max_length_ratio * static_cast<double>(source_length));
  const bool unlimited = options.max_length_ratio == 0;
  if (unlimited || by_ratio >= static_cast<double>(options.max_length)) return options.max_length;
  return std::clamp(static_cast<int64_t>(by_ratio) + always_allowed,
                    min_output_length(options, source_length), options.max_length);
}

int64_t min_output_length(const SearchOptions& options, int64_t source_length) {
  const double by_ratio = options.min_length_ratio * static_cast<double>(source_length);
  return static_cast<int64_t>(std::min(static_cast<double>(options.max_length),
                                       std::max(by_ratio, static_cast<double>(options.min_length))));
}

double length_divisor(const SearchOptions& options, int64_t length) {
  const auto n = static_cast<double>(std::max<int64_t>(length, 1) + options.length_offset);
  return std::pow(options.penalty_form == LengthPenalty::gnmt ? (5 + n) / 6 : n, options.length_penalty);
}

}  // namespace dragoman::internal
