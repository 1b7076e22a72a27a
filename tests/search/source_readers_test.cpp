// Models that translate together and read sources by pieces of their own: each gets its own pieces of the same text.
#include <algorithm>
#include <cmath>

#include "search/model_folder.h"
#include "search/score.h"
#include "search/segments.h"
#include "search/stepped.h"
#include "search/translate_lines.h"

namespace dragoman::internal {
namespace {

using Ids = std::vector<int32_t>;
// log p of each token, and of the end behind them, as the mean of what the models say each alone.
std::vector<double> mean_of_single(const Models& models, const std::vector<Ids>& sources, const Ids& output) {
  std::vector<double> mean(output.size() + 1);
  for (size_t m = 0; m < models.size(); ++m) {
    const auto log_p =
        score_pairs(*models[m], packed_side({sources[m]}), packed_side({output}), bos_id, eos_id)[0];
    for (size_t t = 0; t < mean.size(); ++t) mean[t] += std::exp(static_cast<double>(log_p[t]));
  }
  for (double& p : mean) p = std::log(p / static_cast<double>(models.size()));
  return mean;
}

// Two models of the same target words, and of different source words.
class SourceReaders : public testing::TestWithParam<ModelCase> {
 protected:
  SourceReaders() : second_(other(), first_.device, Buffers::weights) { second_.parameters.initialise(7); }

  ModelConfig other() const {
    ModelConfig config = first_.model.config;
    config.source_vocabulary += 12;
    if (has_shared_embedding(config)) config.tied = has_own_generator(config) ? Tied::none : Tied::output;
    return config;
  }
  FoundHypotheses search(int64_t sentences, const SearchOptions& options) {
    QueuedSearch search(models_, {.sentences = sentences});
    for (size_t i = 0; i < sources_.size(); ++i)
      search.add(i, {.source = sources_[i], .other_sources = {other_sources_[i]}, .options = options});
    FoundHypotheses results(sources_.size());
    while (search.busy()) {
      for (RequestResult& result : search.step()) results[result.id] = std::move(result.hypotheses);
    }
    return results;
  }

  SmallModel first_{GetParam().named.config, *GetParam().kernels, 2};
  Transformer second_;
  const Models models_ = {&first_.model, &second_};
  const std::vector<Sentence> sources_ = random_sentences(7, first_.model.config.source_vocabulary, 20, 1),
                              other_sources_ = random_sentences(7, second_.config.source_vocabulary, 33, 2);
};

TEST_P(SourceReaders, SayTheMeanOfWhatEachSaysOfItsOwnSource) {
  for (const int64_t no_repeat_ngram :
       {0, 1000}) {  // with a rule all words are looked at, without one the likeliest
    const FoundHypotheses found =
        search(4, {.beam = 3, .nbest = 2, .max_length = 14, .no_repeat_ngram = no_repeat_ngram});
    for (size_t i = 0; i < sources_.size(); ++i) {
      for (const Hypothesis& h : found[i]) {
        const auto wanted = mean_of_single(models_, {sources_[i], other_sources_[i]}, h.tokens);
        for (size_t t = 0; t < h.log_probabilities.size(); ++t)
          EXPECT_NEAR(static_cast<double>(h.log_probabilities[t]), wanted[t], 1e-5) << i << ", " << t;
      }
    }
  }
}

TEST_P(SourceReaders, GiveASentenceWhatItGetsAlone) {
  for (const bool sample : {false, true}) {
    const SearchOptions options = {.beam = 3, .nbest = 2, .max_length = 14, .sample = sample};
    const FoundHypotheses wanted = search(1, options);
    for (const int64_t sentences : {2, 7, 32}) {
      const FoundHypotheses got = search(sentences, options);
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].size(), wanted[i].size());
        for (size_t n = 0; n < got[i].size(); ++n) {
          EXPECT_EQ(got[i][n].tokens, wanted[i][n].tokens);
          EXPECT_TRUE(same_bits(got[i][n].log_probabilities, wanted[i][n].log_probabilities));
        }
      }
    }
  }
}

TEST_P(SourceReaders, NeedNoMoreMemoryOnceWarm) {
  const auto reached = [&] {
    return search(2, {.beam = 2, .max_length = 9}), first_.device.pool.high_water_mark();
  };
  for (int i = 0; i < 4; ++i) reached();  // blocks of other sizes may be cut from those of the first searches
  const size_t warm = reached();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(reached(), warm);
}

INSTANTIATE_TEST_SUITE_P(On, SourceReaders, testing::ValuesIn(few_on_fibers(model_cases())), model_case_name);

const VocabularyConfig pieces = {.size = 45, .shared = true},
                       letters = {.kind = PieceKind::characters, .size = 45},
                       byte_pieces = {.size = 300, .byte_fallback = true},
                       whole_words = {.kind = PieceKind::words, .size = 45};

// A folder whose model reads by these words, and says those that all of them say.
ModelFolder reader_folder(const std::string& name, const VocabularyConfig& source, int64_t max_length,
                          bool end_mark = true) {
  return ModelFolder(name, max_length, end_mark, pieces, source);
}

std::unique_ptr<SavedModel> saved(const std::vector<const ModelFolder*>& folders) {
  auto model = std::make_unique<SavedModel>(folders[0]->path, kernels_for(nullptr), 1);
  for (size_t i = 1; i < folders.size(); ++i) model->add(folders[i]->path);
  return model;
}

TEST(SavedReaders, ALineIsReadByEachModelsPieces) {
  const ModelFolder one = reader_folder("one", pieces, 40), two = reader_folder("two", letters, 40, false);
  const auto both = saved({&one, &two}), first = saved({&one}), second = saved({&two});
  for (const std::string& line : known_lines()) {
    const Translation best = translate_lines(*both, {line}, {.beam = 2, .max_length = 12})[0].translations[0];
    Ids said;
    for (const ScoredPiece& piece : best.pieces) said.push_back(both->vocabularies.target->id(piece.piece));
    const std::vector<Ids> sources = {first->encode_source(line), second->encode_source(line)};
    EXPECT_NE(sources[0].back() == eos_id, sources[1].back() == eos_id);
    const auto wanted = mean_of_single(both->models(), sources, said);
    for (size_t t = 0; t < said.size(); ++t)
      EXPECT_NEAR(static_cast<double>(best.pieces[t].log_probability), wanted[t], 1e-5) << line;
  }
}

// Whatever they read by, no model gets more than it may have, and all of them together get all of the text.
TEST(SavedReaders, APartIsNoLongerThanEachModelMayHave) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "the dog  sleeps at home Où ";
  const ModelFolder by_pieces = reader_folder("pieces", pieces, 10),
                    by_words = reader_folder("words", whole_words, 8),
                    by_letters = reader_folder("letters", letters, 24),
                    by_bytes = reader_folder("bytes", byte_pieces, 9);
  const std::vector<const ModelFolder*> folders = {&by_pieces, &by_words, &by_letters, &by_bytes};
  for (const ModelFolder* first : folders) {
    std::vector<const ModelFolder*> order = {first};
    for (const ModelFolder* other : folders) {
      if (other != first) order.push_back(other);
    }
    const auto model = saved(order);
    std::vector<Ids> joined(order.size());
    for (const Segment& part : split_line(*model, text)) {
      std::vector<Ids> read = {part.ids};
      read.insert(read.end(), part.other_ids.begin(), part.other_ids.end());
      ASSERT_EQ(read.size(), order.size());
      EXPECT_TRUE(part.cut);
      for (size_t m = 0; m < read.size(); ++m) {
        EXPECT_EQ(read[m].back(), eos_id);
        EXPECT_GT(read[m].size(), 1U);
        EXPECT_LE(std::ssize(read[m]) - 1, model->readers[m].max_length);
        joined[m].insert(joined[m].end(), read[m].begin(), read[m].end() - 1);
        EXPECT_TRUE(model->readers[m].vocabulary->piece(read[m][0]).starts_with("▁") ||
                    read[m][0] == unknown_id)
            << "all begin where a word does";
      }
    }
    for (size_t m = 0; m < joined.size(); ++m)
      EXPECT_EQ(joined[m], model->readers[m].vocabulary->encode(text)) << "nothing is left out";
  }
}

// A table of positions has rows for the marks, too.
TEST(SavedReaders, APartAndItsMarksFitThePositions) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "the dog sleeps at home ";
  const ModelFolder folder = reader_folder("positions", pieces, 10);
  const auto model = saved({&folder});
  model->readers[0].positions = 10;
  for (const Segment& part : split_line(*model, text)) EXPECT_LE(part.ids.size(), 10U);
}

// One word to the first, and too much for the other: it gets as much as it may have, and the line says so.
TEST(SavedReaders, APieceThatIsTooLongForAnotherIsCutForIt) {
  const ModelFolder one = reader_folder("one", whole_words, 8), two = reader_folder("two", letters, 24);
  const auto model = saved({&one, &two});
  const std::vector<Segment> parts = split_line(*model, "sleeps " + std::string(100, 'e') + " home");
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[1].ids.size(), 2U);
  EXPECT_EQ(parts[1].other_ids[0].size(), 25U);
  EXPECT_TRUE(parts[1].cut);
  EXPECT_EQ(parts[2].other_ids[0].size(), std::string_view("_home_").size());
  EXPECT_TRUE(split_line(*model, std::string(100, 'e'))[0].cut);
}

// The last sentence of a line is whole, also for the others; and what has no piece to one of them still is a source.
TEST(SavedReaders, ShortLinesStayWhole) {
  const ModelFolder one = reader_folder("one", whole_words, 8),
                    two = reader_folder("two", letters, 24, false);
  const auto model = saved({&one, &two});
  const std::vector<Segment> parts = split_line(*model, "The cat sleeps.");
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_FALSE(parts[0].cut);
  EXPECT_EQ(parts[0].other_ids[0], model->readers[1].vocabulary->encode("The cat sleeps."));
  EXPECT_EQ(split_line(*model, "The cat sleeps. It is so cold.").size(), 2U)
      << "too many letters for the second";
  EXPECT_EQ(split_line(*model, "\u200b")[0].other_ids[0], Ids{eos_id});
}

}  // namespace
}  // namespace dragoman::internal
