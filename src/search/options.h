// How to search for translations: what the command line, training's validation and a server let users choose.
#pragma once

#include <cstdint>
#include <string>

#include "base/options.h"

namespace dragoman::internal {

// The divisor of a sum of log-probabilities of n tokens: ((5 + n) / 6)^α (Wu et al., 2016), or n^α.
enum class LengthPenalty { gnmt, plain };

// What a hypothesis that ends leaves to the others.
//   shared     It takes one of the beam's places in that step. Open ones go on as long as they can win.
//   top        The same, but the search ends with the first step whose best hypothesis ends, if `nbest` are finished:
//              OpenNMT-py and eole.
//   narrowing  It takes its place for good. The search ends when none is left: Marian.
//   separate   As many stay open beside the finished ones, of which the `beam` best are kept. The search ends when the
//              best open one, divided by the penalty of its present length, is no better than the worst of those:
//              transformers.
//   early      The same, but it ends as soon as `beam` are finished: CTranslate2, and transformers with early_stopping.
//   first      The same, but the first `beam` are kept, not the best of those and of others that end in the last step:
//              fairseq.
// With a beam of one there is no difference.
enum class BeamEnding { shared, top, narrowing, separate, early, first };

struct SearchOptions {
  std::string from, to;  // languages, of a model that has several
  // "auto": lines are split into sentences, by the rules of `from`, unless the model was trained on paragraphs; "none"
  // or "": they stay whole; a language or "any": they are split by its rules.
  std::string split_sentences = "auto";
  int64_t beam = 5;
  int64_t nbest = 1;
  BeamEnding beam_ending = BeamEnding::shared;
  double length_penalty = 0.6;  // α; 0: none
  LengthPenalty penalty_form = LengthPenalty::gnmt;
  int64_t length_offset = 0;  // added to the length in the penalty

  int64_t max_length = 512;  // tokens of output, its end mark not counted
  double max_length_ratio = 3;
  bool forced_end = false;  // an output of the maximum length ends with probability 1, instead of its own
  int64_t min_length = 0;
  double min_length_ratio = 0;
  int64_t no_repeat_ngram = 0;
  double repetition_penalty = 1;
  double prefix_bias =
      1;  // the share of all probability that the next word of a prefix gets; 1: it is forced

  bool shortlist =
      false;  // translations consist of the words that the model's shortlist has for their source
  std::string always_allow;  // a file of words that are allowed besides those

  // β: finished hypotheses are ranked anew by score + β·coverage, of what they attended to in the first of several
  // models. A request must say in which layer.
  double coverage_penalty = 0;
  // Characters that the source's vocabulary lacks are read as plainer ones, or else copied: unknown tokens of the
  // output become the source words that they are aligned to.
  bool replace_unknown = false;
  // Where there is a translation memory (known_segments.h):
  int64_t memory_segments = 4;                   // similar ones that a sentence's search looks at; at most
  double memory_at_least = 0.3;                  // their similarity
  bool match_case = true, match_numbers = true;  // whether others make another text
  bool keep_source = false;                      // where its translation is unlikely.h's
  bool alignment = false;                        // translations come with their word alignment
  int64_t alignment_layer = 0;                   // of the decoder, from 1 on; 0: the default (attention.h)

  bool sample = false;  // instead of a beam
  double temperature = 1;
  int64_t top_k = 0;
  double top_p = 1;
  int64_t seed = 1;
};

// The defaults of language models: a hundred subwords, drawn from the likely ones.
SearchOptions language_model_search();

// Among a command's own flags. declare_output: only those that need no source, for language models.
void declare(Section& own, SearchOptions& options);
void declare_output(Section& own, SearchOptions& options);
void declare_languages(Section& own, std::string& from, std::string& to);
void declare_alignment_layer(Section& own, int64_t& layer);

// Throws OptionError naming the first option whose value contradicts another's.
void validate(const SearchOptions& options);

// Whether anything needs the attention of translations.
bool needs_attention(const SearchOptions& options);

// The number of open hypotheses of a sentence.
int64_t beam_width(const SearchOptions& options);
// How the beam ends: as the option says, but greedy search and samples as by `shared`.
BeamEnding ending_of(const SearchOptions& options);
bool ends_separately(const SearchOptions& options);
// The number of its continuations that are looked at in a step.
int64_t candidate_count(const SearchOptions& options);

// The maximum and the minimum length of the output for a source of this length, in tokens.
int64_t max_output_length(const SearchOptions& options, int64_t source_length);
int64_t min_output_length(const SearchOptions& options, int64_t source_length);

// The divisor of the sum of `length` log-probabilities: it grows with the length.
double length_divisor(const SearchOptions& options, int64_t length);

}  // namespace dragoman::internal
