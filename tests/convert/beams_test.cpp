// Imported models have the beams, with their scores, that their own programs find (tests/golden/make_beams_golden.py).
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "convert/fixtures.h"
#include "convert/importers.h"
#include "search/saved_model.h"
#include "search/search.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

// Importers choose how the beam ends, and what its length counts.
class Beams : public testing::TestWithParam<const char*> {
 protected:
  Beams() { write_model_folder(import_model({source_}), folder_); }

  const std::string source_ = (golden / GetParam()).string();
  const json beams_ = json::parse(read_file(source_ + "/beams.json"));
  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path("imported");
};

SearchOptions options_of(const SearchOptions& of_folder, const json& beam, LengthPenalty form) {
  SearchOptions options = of_folder;
  options.beam = options.nbest = beam["width"];
  options.length_penalty = beam["exponent"];
  options.max_length_ratio = 0;  // no beam here was cut
  options.penalty_form = options.length_penalty == 0 ? LengthPenalty::gnmt : form;
  return options;
}

// That of OpenNMT-py and eole for this exponent in beams.json: "avg", or "wu".
LengthPenalty opennmt_form(double exponent) {
  return exponent == 1 ? LengthPenalty::plain : LengthPenalty::gnmt;
}

std::vector<Hypothesis> search_one(SavedModel& model, const std::vector<int32_t>& ids,
                                   const SearchOptions& options) {
  const Vocabulary& target = *model.vocabularies.target;
  PackedSide sources;
  sources.add(ids.data(), ids.data() + ids.size());
  return search_all(
      model.model, sources, options,
      {.start = target.special().start, .end = target.special().end, .suppressed = target.suppressed()})[0];
}

TEST_P(Beams, AreTheSame) {
  const std::string name = GetParam();
  const bool opennmt = name == "eole" || name.starts_with("opennmt");
  for (const Kernels* kernels : every_instruction_set()) {
    SavedModel model(folder_, *kernels, 1);
    for (const json& beam : beams_) {
      const LengthPenalty form = opennmt ? opennmt_form(beam["exponent"]) : LengthPenalty::plain;
      const auto found = search_one(model, beam["ids"], options_of(model.search, beam, form));
      ASSERT_EQ(found.size(), beam["outputs"].size()) << beam;
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(json(found[i].tokens), beam["outputs"][i]) << beam << i;
        EXPECT_NEAR(found[i].score, beam["scores"][i].get<double>(), 1e-3) << beam << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Beams,
                         testing::Values("fairseq/post", "fairseq/pre", "fairseq/old", "opennmt/v3", "eole",
                                         "marian_models/tied", "marian_models/opus", "marian_models/ssru"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace dragoman::internal
