// Whatever is asked for, a GPU finds what the processor finds: texts are equal, but where two translations are as good
// as each other to rounding. Random models make all of them nearly so; so a few texts may differ, and no score.
#include "model/gpu_cases.h"
#include "search/model_folder.h"
#include "search/saved_model.h"
#include "search/shortlist.h"
#include "search/stepped.h"

namespace dragoman::internal {
namespace {

struct Asked {
  const char* name;
  SearchOptions options;
  const char* prefix = "";
  bool terms = false, ensemble = false, language_model = false;
};

std::vector<Asked> all_kinds() {
  return {
      {"greedy", {.beam = 1, .max_length = 12}},
      {"a beam, and all that it found", {.beam = 4, .nbest = 4, .max_length = 12}},
      {"a shortlist", {.beam = 3, .max_length = 12, .shortlist = true}},
      {"a prefix", {.beam = 3, .max_length = 12}, "The do"},
      {"a prefix that is favoured", {.beam = 3, .max_length = 12, .prefix_bias = 0.4}, "The do"},
      {"alignments", {.beam = 3, .max_length = 12, .alignment = true}},
      {"coverage", {.beam = 3, .max_length = 12, .coverage_penalty = 1}},
      {"no repetitions", {.beam = 3, .max_length = 12, .no_repeat_ngram = 2, .repetition_penalty = 1.3}},
      {"samples",
       {.nbest = 2, .max_length = 12, .sample = true, .temperature = 0.7, .top_k = 8, .top_p = 0.9}},
      {"terms", {.beam = 3, .max_length = 12}, "", true},
      {"an ensemble", {.beam = 3, .max_length = 12}, "", false, true},
      {"a fused language model", {.beam = 3, .max_length = 12}, "", false, false, true},
  };
}

class GpuAndCpu : public testing::TestWithParam<const Kernels*> {
 protected:
  GpuAndCpu() {
    SavedModel saved(folder_.path, kernels_for(nullptr), 1);
    Lexicon lexicon = {.frequent = {5, 4}, .translations = {}};
    const auto size = static_cast<int32_t>(saved.vocabularies.target->size());
    for (int32_t id = 0; id < size; ++id) lexicon.translations.push_back({(id + 1) % size, id});
    write_shortlist(folder_.path, lexicon, saved.vocabularies);
  }

  std::vector<TranslatedLine> translate(const Kernels& kernels, RequestedPrecision precision,
                                        const Asked& asked) const {
    SavedModel saved(folder_.path, kernels, 1, precision);
    if (asked.ensemble) saved.add(second_.path, precision);
    if (asked.language_model) saved.fuse(language_.path, 0.3, precision);
    SteppedTranslator translator(saved, {.sentences = 3});
    for (uint64_t i = 0; i < known_lines().size(); ++i) {
      TranslationRequest request = {
          .text = known_lines()[i], .prefix = asked.prefix, .options = asked.options};
      if (asked.terms) request.terms = {{{0, 2}, {"station"}}};
      translator.add(i, std::move(request));
    }
    std::vector<TranslatedLine> lines(known_lines().size());
    while (translator.busy())
      for (TranslationResult& result : translator.step()) {
        EXPECT_EQ(result.status, SearchStatus::finished) << result.error;
        lines[result.id] = std::move(result.line);
      }
    return lines;
  }

  // How many texts differ. Equal ones have equal scores.
  static int compare(const std::vector<TranslatedLine>& got, const std::vector<TranslatedLine>& wanted,
                     double tolerance) {
    int differ = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Translation &a = got[i].translations.at(0), &b = wanted[i].translations.at(0);
      differ += a.text != b.text;
      if (a.text == b.text) {
        EXPECT_NEAR(a.score, b.score, tolerance) << a.text;
      }
      EXPECT_EQ(got[i].terms_missed, wanted[i].terms_missed);
    }
    return differ;
  }

  const ModelFolder folder_{"gpu-and-cpu"}, second_{"gpu-and-cpu-second"};
  const ModelFolder language_{"gpu-and-cpu-language",       40, true,
                              {.size = 45, .shared = true}, {}, DecoderSelfAttention::attention,
                              ModelKind::language_model};
};

TEST_P(GpuAndCpu, FindTheSame) {
  for (const Asked& asked : all_kinds()) {
    SCOPED_TRACE(asked.name);
    const auto wanted = translate(kernels_for(nullptr), RequestedPrecision::fp32, asked);
    const auto got = translate(*GetParam(), RequestedPrecision::fp32, asked);
    EXPECT_EQ(compare(got, wanted, 1e-4), 0);
  }
}

// Both round weights in the same way, but the processor neither what it multiplies by them nor keys and values: a beam
// may lose what it finds there, and end with another text.
TEST_P(GpuAndCpu, FindTheSameInBf16UpToRounding) {
  for (const Asked& asked : all_kinds()) {
    SCOPED_TRACE(asked.name);
    const auto wanted = translate(kernels_for("baseline"), RequestedPrecision::bf16, asked);
    const auto got = translate(*GetParam(), RequestedPrecision::bf16, asked);
    EXPECT_LE(compare(got, wanted, 0.05), 1);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuAndCpu);
INSTANTIATE_TEST_SUITE_P(On, GpuAndCpu, testing::ValuesIn(gpu_tables()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
