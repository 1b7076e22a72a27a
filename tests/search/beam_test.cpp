// The functions on a beam, without a model.
#include "search/beam/beam.h"

#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "search/beam/rules.h"
#include "search/beam/sampling.h"

namespace dragoman::internal {
namespace {

constexpr int32_t end_mark = 0;

Hypothesis said(std::vector<int32_t> tokens, double total) {
  Hypothesis h = {.tokens = std::move(tokens), .total = total};
  h.log_probabilities.assign(h.tokens.size(), 0);
  return h;
}

Beam beam_of(std::vector<Hypothesis> open) {
  return {.end = end_mark, .max_length = 20, .open = std::move(open)};
}

std::vector<std::vector<int32_t>> tokens_of(const std::vector<Hypothesis>& hypotheses) {
  std::vector<std::vector<int32_t>> tokens;
  for (const Hypothesis& h : hypotheses) tokens.push_back(h.tokens);
  return tokens;
}

TEST(Beam, ExpandAddsLogProbabilitiesUp) {
  const Beam beam = beam_of({said({4}, -1), said({5}, -2)});
  const std::vector<Element> next = {{0, -0.5F}, {2, -4}, {0, -0.25F}, {-1, no_probability}};
  const auto candidates = expand(beam, next);
  ASSERT_EQ(candidates.size(), 3U);
  EXPECT_EQ(candidates[0].total, -1.5);
  EXPECT_EQ(candidates[1].token, 2);
  EXPECT_EQ(candidates[1].log_probability, -4);
  EXPECT_EQ(candidates[2].parent, 1);
  EXPECT_EQ(candidates[2].total, -2.25);
}

TEST(Beam, PruneKeepsTheBestAndBreaksTiesByPlace) {
  std::vector<Candidate> candidates = {{1, 3, 0, -1}, {0, 7, 0, -2}, {0, 4, 0, -1}, {0, 3, 0, -1}};
  prune(candidates, 3);
  ASSERT_EQ(candidates.size(), 3U);
  EXPECT_EQ(std::pair(candidates[0].parent, candidates[0].token), std::pair(0, 3));
  EXPECT_EQ(std::pair(candidates[1].parent, candidates[1].token), std::pair(0, 4));
  EXPECT_EQ(std::pair(candidates[2].parent, candidates[2].token), std::pair(1, 3));
}

TEST(Beam, FinishKeepsTheBestOnes) {
  Beam beam = beam_of({said({4}, -1)});
  const SearchOptions options = {.nbest = 2, .length_penalty = 0};
  finish(beam, {{0, end_mark, -3, -4}, {0, 5, -1, -2}}, options);
  EXPECT_EQ(tokens_of(beam.finished), (std::vector<std::vector<int32_t>>{{4}}));
  EXPECT_EQ(beam.finished[0].log_probabilities.back(), -3);
  finish(beam, {{0, end_mark, -1, -3}, {0, 6, -1, -3.5}}, options);
  EXPECT_EQ(tokens_of(beam.finished), (std::vector<std::vector<int32_t>>{{4, 5}, {4}}));
  finish(beam, {{0, end_mark, -0.1F, -3.6}, {0, 7, -3, -6.5}}, options);
  EXPECT_EQ(tokens_of(beam.finished), (std::vector<std::vector<int32_t>>{{4, 5}, {4, 5, 6}}));
  EXPECT_TRUE(beam.open.empty()) << "−6.5 cannot become better than −3.6";
}

// The bound is what an open one would have if nothing more were lost until the longest output.
TEST(Beam, AnOpenHypothesisStaysAsLongAsItCanWin) {
  const SearchOptions options = {.nbest = 1, .length_penalty = 1, .penalty_form = LengthPenalty::plain};
  for (const auto& [total, wins] : {std::pair{-4.9, true}, std::pair{-5.1, false}}) {
    Beam beam = beam_of({said({4}, -0.1)});
    beam.max_length = 19;                                                    // and the end mark: 20
    finish(beam, {{0, end_mark, -0.4F, -0.5}, {0, 5, -1, total}}, options);  // −0.5 / 2
    EXPECT_EQ(beam.finished[0].score, -0.25);
    EXPECT_EQ(!beam.open.empty(), wins) << total;
  }
}

TEST(Beam, WhatMustEndIsCutUnlessItWouldHaveEnded) {
  for (const auto& [log_p, cut] : {std::pair{-0.1F, false}, std::pair{-2.0F, true}}) {
    Beam beam = beam_of({said({4, 5}, -1)});
    beam.max_length = 2;
    finish(beam, {{0, end_mark, log_p, -1.5}}, {});
    EXPECT_EQ(beam.finished[0].cut, cut);
  }
  Beam dead = beam_of({said({4, 5}, -1)});
  finish(dead, {}, {});
  EXPECT_TRUE(dead.open.empty());
  EXPECT_TRUE(dead.finished[0].cut);
}

TEST(Beam, OpenOnesStayBesideThoseThatEndSeparately) {
  const SearchOptions options = {.beam = 2, .beam_ending = BeamEnding::separate, .length_penalty = 0};
  EXPECT_EQ(candidate_count(options), 4);
  Beam beam = beam_of({said({4}, -1), said({5}, -2)});
  // The worse end is not among the two best: it counts for nothing.
  finish(beam, {{0, end_mark, -1, -2}, {0, 6, -2, -3}, {1, end_mark, -2, -4}, {1, 7, -3, -5}}, options);
  EXPECT_EQ(tokens_of(beam.open), (std::vector<std::vector<int32_t>>{{4, 6}, {5, 7}}));
  EXPECT_EQ(tokens_of(beam.finished), (std::vector<std::vector<int32_t>>{{4}}));
  finish(beam, {{0, 8, -1, -4}, {0, end_mark, -2, -5}, {1, 8, -0.5F, -5.5}, {0, 9, -4, -7}}, options);
  EXPECT_EQ(tokens_of(beam.open), (std::vector<std::vector<int32_t>>{{4, 6, 8}, {5, 7, 8}})) << "-4 beats -5";
  EXPECT_EQ(beam.finished.size(), 2U);
  finish(beam, {{0, 8, -2, -6}, {1, end_mark, -1, -6.5}}, options);
  EXPECT_TRUE(beam.open.empty());
  EXPECT_EQ(tokens_of(beam.finished), (std::vector<std::vector<int32_t>>{{4}})) << "the best `nbest`";
}

TEST(Beam, SeparateEndsLookAtThePresentLength) {
  for (const auto& [ending, total, goes_on] : {std::tuple{BeamEnding::separate, -2.9, true},
                                               {BeamEnding::separate, -3.1, false},
                                               {BeamEnding::early, -2.9, false}}) {
    const SearchOptions options = {
        .beam = 2, .beam_ending = ending, .length_penalty = 1, .penalty_form = LengthPenalty::plain};
    Beam beam = beam_of({said({4}, -1), said({5}, -1)});
    beam.finished = {Hypothesis{.tokens = {9}, .score = -1}};
    // The worst finished one has -3 / 2, the best open one total / 2 now.
    finish(beam, {{1, 6, -1, total}, {0, end_mark, -2, -3}, {0, 7, -9, -10}}, options);
    EXPECT_EQ(!beam.open.empty(), goes_on) << total;
  }
}

TEST(Beam, OfTooManyThatEndTheFirstAreKeptOrTheBest) {
  for (const auto& [ending, worst] : {std::pair{BeamEnding::early, -2.0}, {BeamEnding::first, -3.0}}) {
    const SearchOptions options = {.beam = 2, .nbest = 2, .beam_ending = ending, .length_penalty = 0};
    Beam beam = beam_of({said({4}, -1), said({5}, -1)});
    beam.finished = {Hypothesis{.tokens = {9}, .score = -3}};
    finish(beam, {{0, end_mark, -0.5F, -1.5}, {1, end_mark, -1, -2}, {0, 7, -9, -10}}, options);
    EXPECT_TRUE(beam.open.empty());
    EXPECT_EQ(beam.finished[1].score, worst);
  }
}

TEST(Beam, TheSearchEndsWhereTheTopOfAStepEnds) {
  const SearchOptions options = {.beam = 2, .beam_ending = BeamEnding::top, .length_penalty = 0};
  Beam beam = beam_of({said({4}, -1), said({5}, -2)});
  finish(beam, {{0, 6, -1, -2}, {1, end_mark, -1, -3}}, options);
  EXPECT_EQ(tokens_of(beam.open), (std::vector<std::vector<int32_t>>{{4, 6}})) << "not the top";
  finish(beam, {{0, end_mark, -9, -11}, {0, 7, -9.5F, -11.5}}, options);
  EXPECT_TRUE(beam.open.empty());
  EXPECT_EQ(tokens_of(beam.finished), (std::vector<std::vector<int32_t>>{{5}}));

  const SearchOptions two = {.beam = 2, .nbest = 2, .beam_ending = BeamEnding::top, .length_penalty = 0};
  Beam other = beam_of({said({4}, -1)});
  finish(other, {{0, end_mark, -1, -2}, {0, 7, -2, -3}}, two);
  EXPECT_FALSE(other.open.empty()) << "one of two";
}

TEST(Beam, ANarrowingBeamLosesAPlaceWithEachThatEnds) {
  const SearchOptions options = {.beam = 3, .beam_ending = BeamEnding::narrowing, .length_penalty = 0};
  Beam beam = beam_of({said({4}, -1), said({5}, -1), said({6}, -1)});
  finish(beam, {{0, end_mark, -1, -2}, {0, 7, -2, -3}, {1, 7, -2, -3}}, options);
  ASSERT_EQ(beam.open.size(), 2U);
  finish(beam, {{0, 8, -1, -4}, {1, end_mark, -2, -5}, {0, 9, -3, -6}}, options);
  EXPECT_EQ(tokens_of(beam.open), (std::vector<std::vector<int32_t>>{{4, 7, 8}})) << "-4 cannot beat -2";
  finish(beam, {{0, 9, -1, -5}, {0, end_mark, -2, -6}}, options);
  ASSERT_EQ(beam.open.size(), 1U);
  finish(beam, {{0, end_mark, -1, -6}, {0, 9, -2, -7}}, options);
  EXPECT_TRUE(beam.open.empty());
  EXPECT_EQ(tokens_of(beam.finished), (std::vector<std::vector<int32_t>>{{4}}));
}

TEST(Beam, TheLengthMayCountMoreThanTheOutput) {
  const SearchOptions options = {
      .length_penalty = 1, .penalty_form = LengthPenalty::plain, .length_offset = 1};
  EXPECT_EQ(length_divisor(options, 3), 4);
}

TEST(Beam, AForcedEndIsCertain) {
  const SearchOptions options = {.forced_end = true};
  Beam beam = beam_of({said({4, 5}, -1)});
  beam.max_length = 2;
  std::vector<float> row = {-3, -0.1F, -4};
  apply_rules(beam, beam.open[0], options, {row});
  EXPECT_EQ(row, (std::vector<float>{0, no_probability, no_probability}));
  finish(beam, {{0, end_mark, 0, -1}}, options);
  EXPECT_TRUE(beam.finished[0].cut);
}

TEST(Beam, ABeamOfOneIsGreedyHoweverItEnds) {
  for (const BeamEnding ending : {BeamEnding::separate, BeamEnding::narrowing, BeamEnding::top}) {
    const SearchOptions options = {.beam = 1, .beam_ending = ending};
    EXPECT_EQ(candidate_count(options), 1);
    EXPECT_EQ(ending_of(options), BeamEnding::shared);
  }
}

TEST(Beam, ReorderSharesRowsAndFreesWhatNobodyHas) {
  CacheRows rows;
  const int32_t start = rows.take(), a = rows.take(), b = rows.take();
  Beam beam = beam_of({said({1}, 0), said({2}, 0), said({3}, 0)});
  beam.open[0].rows = beam.open[1].rows = {start, a};
  beam.open[2].rows = {start, a};
  rows.share(std::vector{start});  // for the second of two that were open
  const std::vector<int32_t> before = {start, a, start, b};
  reorder(beam, before, rows);
  EXPECT_EQ(rows.in_use(), 2);
  EXPECT_EQ(rows.take(), b) << "what nobody has is taken again";
  const std::vector<int32_t> three = {start, a, start, a, start, a};
  beam.open.clear();
  reorder(beam, three, rows);
  EXPECT_EQ(rows.in_use(), 1);
  EXPECT_THROW(rows.release(std::vector{a}), BrokenInvariant);
}

std::vector<float> after_rules(const Beam& beam, const SearchOptions& options, std::vector<float> row) {
  apply_rules(beam, beam.open[0], options, {row});
  return row;
}

// Whoever asks has_rules() first leaves out nothing: on made-up beams of all kinds, and both happen often.
TEST(Rules, WhereNoneIsInForceNothingChanges) {
  Random random(1);
  const std::vector<float> row = {-1, -2, -3, -4};
  int changed = 0, free = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto below = [&](uint64_t n) { return static_cast<int64_t>(random.below(n)); };
    const auto words = [&] {
      std::vector<int32_t> ids(random.below(5));
      for (int32_t& id : ids) id = static_cast<int32_t>(random.below(4));
      return ids;
    };
    Beam beam = beam_of({said(words(), 0)});
    beam.end = static_cast<int32_t>(below(2)) - 1;
    beam.min_length = below(2) * below(6), beam.max_length = 3 + below(9);
    if (below(3) == 0) beam.prefix = words();
    beam.no_repeat_ngram = below(4) == 0 ? below(3) : 0;
    const SearchOptions options = {.repetition_penalty = below(4) == 0 ? 1.5 : 1,
                                   .prefix_bias = below(2) == 0 ? 1 : 0.5};
    const bool changes = beam.end < 0 ? false : after_rules(beam, options, row) != row;
    const bool rules = has_rules(beam, beam.open[0], options);
    EXPECT_LE(changes, rules);
    changed += changes, free += !rules;
  }
  EXPECT_GT(changed, 300);
  EXPECT_GT(free, 300);
}

TEST(Rules, LimitsOfLength) {
  Beam beam = beam_of({said({1, 1}, 0)});
  beam.min_length = 3;
  EXPECT_EQ(after_rules(beam, {}, {-1, -2, -3}), (std::vector<float>{no_probability, -2, -3}));
  beam.min_length = 2;
  EXPECT_EQ(after_rules(beam, {}, {-1, -2, -3}), (std::vector<float>{-1, -2, -3}));
  beam.max_length = 2;
  EXPECT_EQ(after_rules(beam, {}, {-1, -2, -3}), (std::vector<float>{-1, no_probability, no_probability}));
}

TEST(Rules, APrefixIsForced) {
  Beam beam = beam_of({said({1}, 0)});
  beam.prefix = {1, 2};
  EXPECT_EQ(after_rules(beam, {}, {-1, -2, -3}), (std::vector<float>{no_probability, no_probability, -3}));
  beam.prefix = {1};
  EXPECT_EQ(after_rules(beam, {}, {-1, -2, -3}), (std::vector<float>{-1, -2, -3}));
}

TEST(Rules, APrefixMayBeFavouredOnly) {
  Beam beam = beam_of({said({1}, 0)});
  beam.prefix = {1, 2};
  const std::vector<float> half = {std::log(0.5F), std::log(0.25F), std::log(0.25F)};
  const std::vector<float> favoured = after_rules(beam, {.prefix_bias = 0.4}, half);
  for (const auto& [word, p] : {std::pair{0, 0.3}, std::pair{1, 0.15}, std::pair{2, 0.15 + 0.4}})
    EXPECT_NEAR(std::exp(favoured[static_cast<size_t>(word)]), p, 1e-6);
  beam.prefix = {0, 2};
  EXPECT_EQ(after_rules(beam, {.prefix_bias = 0.4}, half), half) << "it went another way";
  beam.prefix = {1};
  EXPECT_EQ(after_rules(beam, {.prefix_bias = 0.4}, half), half) << "there is no more of it";
}

TEST(Rules, SomeWordsAreARow) {
  Beam beam = beam_of({said({7, 9, 7}, 0)});
  std::vector<float> row = {-1, -2, -3};
  const std::vector<int32_t> words = {end_mark, 7, 9};
  const auto after = [&](const SearchOptions& options) {
    std::vector<float> changed = row;
    apply_rules(beam, beam.open[0], options, {changed, words});
    return changed;
  };
  EXPECT_EQ(after({.repetition_penalty = 2}), (std::vector<float>{-1, -4, -6}));
  beam.no_repeat_ngram = 2;
  EXPECT_EQ(after({}), (std::vector<float>{-1, -2, no_probability}));
  beam.min_length = 4;
  EXPECT_EQ(after({}), (std::vector<float>{no_probability, -2, no_probability}));
  beam.max_length = 3;
  EXPECT_EQ(after({}), (std::vector<float>{-1, no_probability, no_probability}));
  const std::vector<Element> next = {{2, -3}};
  EXPECT_EQ(expand(beam, next, words)[0].token, 9);
}

TEST(Rules, Repetitions) {
  Beam beam = beam_of({said({1, 2, 3, 1, 4, 1, 2}, 0)});
  const std::vector<float> row = {-1, -1, -1, -1, -1, -1};
  beam.no_repeat_ngram = 3;
  EXPECT_EQ(after_rules(beam, {}, row), (std::vector<float>{-1, -1, -1, no_probability, -1, -1}));
  beam.no_repeat_ngram = 2;
  EXPECT_EQ(after_rules(beam, {}, row), (std::vector<float>{-1, -1, -1, no_probability, -1, -1}));
  beam.no_repeat_ngram = 1;
  EXPECT_EQ(after_rules(beam, {}, row),
            (std::vector<float>{-1, no_probability, no_probability, no_probability, no_probability, -1}));
  beam.no_repeat_ngram = 9;
  EXPECT_EQ(after_rules(beam, {}, row), row);
  beam.no_repeat_ngram = 0;
  EXPECT_EQ(after_rules(beam, {.repetition_penalty = 2}, row), (std::vector<float>{-1, -2, -2, -2, -2, -1}));
}

// How often each of four tokens is drawn, in percent.
std::vector<int> shares(SearchOptions options) {
  const std::vector<float> row = {std::log(0.1F), std::log(0.6F), no_probability, std::log(0.3F)};
  std::vector<int> counts(4);
  for (uint64_t line = 0; line < 4000; ++line)
    ++counts[static_cast<size_t>(draw(row, options, draw_key(options, line, 0, 5)).column)];
  for (int& count : counts) count = (count + 20) / 40;
  return counts;
}

void expect_shares(const SearchOptions& options, const std::vector<int>& wanted) {
  const std::vector<int> got = shares(options);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], wanted[i], wanted[i] == 0 ? 0 : 3) << "token " << i;
}

TEST(Sampling, DrawsByProbability) {
  expect_shares({}, {10, 60, 0, 30});
  expect_shares({.temperature = 0.5}, {2, 78, 0, 20});
  expect_shares({.top_k = 2}, {0, 67, 0, 33});
  expect_shares({.top_p = 0.59}, {0, 100, 0, 0});
  expect_shares({.top_p = 0.61}, {0, 67, 0, 33});
  EXPECT_NE(draw_key({.seed = 2}, 1, 1, 1), draw_key({.seed = 3}, 1, 1, 1));
  const std::vector<int32_t> one = {7, 8}, other = {8, 7};
  EXPECT_NE(source_key(one), source_key(other));
  EXPECT_EQ(draw(std::vector<float>{no_probability, no_probability}, {}, 1).column, -1);
  const Element sure = draw(std::vector<float>{no_probability, -0.5F}, {}, 1);
  EXPECT_EQ(std::pair(sure.column, sure.value), std::pair(1, -0.5F));
}

TEST(SearchOptions, ExcludeEachOther) {
  const auto wrong = [](const SearchOptions& options) -> std::string {
    try {
      validate(options);
    } catch (const OptionError& error) {
      return error.key;
    }
    return "";
  };
  EXPECT_EQ(wrong({}), "");
  EXPECT_EQ(wrong({.beam = 2, .nbest = 3}), "nbest");
  EXPECT_EQ(wrong({.nbest = 9, .sample = true}), "");
  EXPECT_EQ(wrong({.beam = 2, .sample = true}), "beam");
  EXPECT_EQ(wrong({.temperature = 2}), "temperature");
  EXPECT_EQ(wrong({.top_k = 2}), "top-k");
  EXPECT_EQ(wrong({.top_p = 0.5}), "top-p");
  EXPECT_EQ(wrong({.seed = 2}), "seed");
  EXPECT_EQ(wrong({.max_length = 3, .min_length = 4}), "min-length");
  EXPECT_EQ(wrong({.max_length_ratio = 1, .min_length_ratio = 1.5}), "min-length-ratio");
  EXPECT_EQ(wrong({.max_length_ratio = 0, .min_length_ratio = 1.5}), "");
}

TEST(SearchOptions, LengthsFollowTheSource) {
  EXPECT_EQ(max_output_length({.max_length = 100, .max_length_ratio = 1.5}, 5), 18);
  EXPECT_EQ(max_output_length({.max_length = 100, .max_length_ratio = 1.5}, 70), 100);
  EXPECT_EQ(max_output_length({.max_length = 100, .max_length_ratio = 0}, 1), 100);
  EXPECT_EQ(min_output_length({.min_length = 2, .min_length_ratio = 0.5}, 10), 5);
  EXPECT_EQ(min_output_length({.min_length = 7, .min_length_ratio = 0.5}, 10), 7);
  EXPECT_EQ(min_output_length({.max_length = 6, .min_length_ratio = 5}, 10), 6);
  EXPECT_EQ(min_output_length({.min_length = 40}, 2), 40);
  EXPECT_EQ(max_output_length({.min_length = 40}, 2), 40) << "min_length overrides the ratio";
}

}  // namespace
}  // namespace dragoman::internal
