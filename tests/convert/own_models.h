// Small models as training leaves them, with random weights, and what they compute.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "model/folder.h"
#include "model/weights.h"
#include "search/saved_model.h"
#include "search/score.h"
#include "testing.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

inline std::shared_ptr<const Vocabulary> learned(const std::vector<std::string>& words,
                                                 VocabularyConfig config) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < 200; ++i)
    lines.push_back(words[i % words.size()] + " " + words[i * i % words.size()] + " " +
                    words[i / 3 % words.size()]);
  const auto open = [&]() -> Sentences {
    return [&, i = size_t{0}]() mutable -> std::optional<std::string_view> {
      return i < lines.size() ? std::optional<std::string_view>(lines[i++]) : std::nullopt;
    };
  };
  return std::make_shared<const Vocabulary>(learn_vocabulary(config, open, "source"));
}

inline Vocabularies own_vocabularies(bool shared) {
  const auto source = learned({"station", "where", "is", "the", "train", "ticket"}, {.size = 50});
  return {source, shared ? source : learned({"gare", "où", "est", "la", "billet"}, {.size = 40})};
}

// A folder as training writes it, with random weights everywhere.
inline std::string make_model(ModelConfig config, const Vocabularies& vocabularies, const std::string& folder,
                              bool source_eos = true) {
  config.source_vocabulary = vocabularies.source->size();
  config.target_vocabulary = vocabularies.target->size();
  Device device(kernels_for("baseline"), 1);
  Transformer model(config, device, Buffers::weights);
  const auto weights = random_floats(model.parameters.weights().size(), 3, -0.4, 0.4);
  make_folder(folder);
  write_vocabularies(folder, vocabularies);
  write_weights(weights_path(folder), model.parameters, weights);
  const nlohmann::json saved = {{"format", 1},
                                {"model", to_json(config)},
                                {"search", {{"beam", 3}, {"length-penalty", 0.7}, {"penalty-form", "plain"}}},
                                {"recipe", {{"vocabulary", {{"source_eos", source_eos}}}}}};
  write_file(folder + "/config.json", {saved.dump()});
  return folder;
}

// Log-probabilities of some text as a target.
inline std::vector<float> scores(const std::string& folder) {
  SavedModel model(folder, kernels_for("baseline"), 1);
  const SpecialTokens& special = model.vocabularies.target->special();
  std::vector<float> all;
  for (const char* line : {"where is the station", "the train", "billet où"}) {
    const auto source = model.encode_source(line),
               target = model.vocabularies.target->encode("la gare est où le train");
    PackedSide sources, targets;
    sources.add(source.data(), source.data() + source.size());
    targets.add(target.data(), target.data() + target.size());
    const auto log_p = score_pairs(model.model, sources, targets, special.start, special.end)[0];
    all.insert(all.end(), log_p.begin(), log_p.end());
  }
  return all;
}

}  // namespace dragoman::internal
