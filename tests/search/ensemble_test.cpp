// Several models that translate together: the mean of their probabilities, each with keys and values of its own.
#include "search/ensemble.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "search/model_folder.h"
#include "search/stepped.h"
#include "search/translate_lines.h"

namespace dragoman::internal {
namespace {

class EnsembleTest : public testing::TestWithParam<ModelCase> {
 protected:
  // A model beside the first one, on its device: of another depth and other weights.
  EnsembleTest() : second_(deeper(), first_.device, Buffers::weights) { second_.parameters.initialise(7); }

  ModelConfig deeper() const {
    ModelConfig config = first_.model.config;
    config.decoder_layers += 1;
    return config;
  }
  FoundHypotheses search(const Models& models, const SearchOptions& options, int64_t sentences = 4) {
    QueuedSearch search(models, {.sentences = sentences});
    for (size_t i = 0; i < sources_.size(); ++i) search.add(i, {.source = sources_[i], .options = options});
    FoundHypotheses results(sources_.size());
    while (search.busy()) {
      for (RequestResult& result : search.step()) results[result.id] = std::move(result.hypotheses);
    }
    return results;
  }
  FoundHypotheses search(const Models& models) { return search(models, options_); }

  SmallModel first_{GetParam().named.config, *GetParam().kernels, 2};
  Transformer second_;
  const SearchOptions options_ = {.beam = 3, .nbest = 2, .max_length = 14};
  const std::vector<Sentence> sources_ = random_sentences(7, first_.model.config.source_vocabulary, 20, 1);
};

void expect_close(const FoundHypotheses& got, const FoundHypotheses& wanted, double tolerance) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(got[i].size(), wanted[i].size());
    for (size_t n = 0; n < got[i].size(); ++n) {
      EXPECT_EQ(got[i][n].tokens, wanted[i][n].tokens);
      EXPECT_NEAR(got[i][n].score, wanted[i][n].score, tolerance);
    }
  }
}

TEST_P(EnsembleTest, OfAModelWithItselfIsThatModel) {
  Transformer same(first_.model.config, first_.device, Buffers::weights);
  const std::span<const float> weights = first_.model.parameters.weights();
  first_.device.memory.copy(same.parameters.weights().data(), weights.data(), weights.size_bytes());
  expect_close(search({&first_.model, &same, &first_.model}), search({&first_.model}), 1e-5);
}

TEST_P(EnsembleTest, SaysTheMeanOfTheProbabilities) {
  const auto first_step = [&](const Models& models) {
    Ensemble ensemble(models);
    PackedSide side;
    side.add(sources_[1].data(), sources_[1].data() + sources_[1].size());
    std::vector<int32_t> rows(sources_[1].size());
    std::iota(rows.begin(), rows.end(), 0);
    for (size_t i = 0; i < models.size(); ++i) ensemble.encode(i, side, rows);
    const AllowedWords all;
    const std::vector<std::vector<int32_t>> source_rows(models.size(), rows);
    const OpenRow row = {
        .last = 1, .position = 0, .rows = {rows.data(), 1}, .source_rows = source_rows, .allowed = &all};
    return rows_of(ensemble.next({&row, 1}).log_probabilities(0, 1), {0, 1});
  };
  const auto one = first_step({&first_.model}), two = first_step({&second_}),
             both = first_step({&first_.model, &second_, &second_});
  for (size_t word = 0; word < one.size(); ++word)
    EXPECT_NEAR(std::exp(both[word]), (std::exp(one[word]) + 2 * std::exp(two[word])) / 3, 1e-6);
}

TEST_P(EnsembleTest, TheOrderDoesNotMatter) {
  const FoundHypotheses wanted = search({&first_.model, &second_});
  expect_close(search({&second_, &first_.model}), wanted, 1e-5);
  EXPECT_NE(wanted[1][0].score, search({&first_.model})[1][0].score);
}

TEST_P(EnsembleTest, ASentenceGetsWhatItGetsAlone) {
  const FoundHypotheses wanted = search({&first_.model, &second_}, options_, 1);
  for (const int64_t sentences : {2, 7, 32})
    expect_close(search({&first_.model, &second_}, options_, sentences), wanted, 0);
}

TEST_P(EnsembleTest, OfDifferentPrecisionASentenceGetsWhatItGetsAlone) {
  quantize_weights(first_.device, second_.parameters, Precision::int8);
  const FoundHypotheses wanted = search({&first_.model, &second_}, options_, 1);
  for (const int64_t sentences : {2, 32})
    expect_close(search({&first_.model, &second_}, options_, sentences), wanted, 0);
}

INSTANTIATE_TEST_SUITE_P(On, EnsembleTest, testing::ValuesIn(few_on_fibers(model_cases())), model_case_name);

TEST(SavedEnsemble, TakesModelsThatSayTheSameWordsOnly) {
  const ModelFolder one("one"), two("two");
  SavedModel model(one.path, kernels_for(nullptr), 1);
  model.add(two.path);
  EXPECT_EQ(model.models().size(), 2U);
  EXPECT_EQ(translate_lines(model, {"The cat sleeps."}, {.max_length = 10}).size(), 1U);
  const auto error_of = [&](const std::string& folder) -> std::string {
    try {
      model.add(folder);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  write_file(two.path + "/source.spm", {read_file(two.path + "/shared.spm")});
  std::filesystem::rename(two.path + "/shared.spm", two.path + "/target.spm");
  EXPECT_EQ(error_of(two.path), "no error") << "the words are what counts, not the files";
  EXPECT_NE(error_of("/nowhere").find("/nowhere"), std::string::npos) << error_of("/nowhere");
  const auto letters = []() -> Sentences {
    return [first = true]() mutable -> std::optional<std::string_view> {
      return std::exchange(first, false) ? std::optional<std::string_view>("a b c") : std::nullopt;
    };
  };
  const auto other = std::make_shared<const Vocabulary>(
      learn_vocabulary({.kind = PieceKind::characters}, letters, "target"));
  write_vocabularies(two.path, {model.vocabularies.source, other});
  EXPECT_EQ(error_of(two.path), one.path + " and " + two.path +
                                    " have different target vocabularies, and cannot translate together");
}

}  // namespace
}  // namespace dragoman::internal
