// The folder of a small model with random weights: what the tests of translating read.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "model/folder.h"
#include "model/small_models.h"
#include "model/weights.h"
#include "text/special_ids.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

inline const std::vector<std::string>& known_lines() {
  static const std::vector<std::string> lines = {"The cat sleeps.", "A dog barks at the cat.",
                                                 "Where is the station?", "It is cold, and we go home."};
  return lines;
}

class ModelFolder {
 public:
  // `max_length`: of the longest training sentence, in pieces, as its configuration says. `source_words`: of the
  // sources alone, where they are not the targets' words, too.
  explicit ModelFolder(const std::string& name, int64_t max_length = 40, bool source_eos = true,
                       const VocabularyConfig& words = {.size = 45, .shared = true},
                       const std::optional<VocabularyConfig>& source_words = {},
                       DecoderSelfAttention self_attention = DecoderSelfAttention::attention,
                       ModelKind kind = ModelKind::translation)
      : path(testing::TempDir() + name) {
    const auto open = []() -> Sentences {
      return [next = size_t{0}]() mutable -> std::optional<std::string_view> {
        if (next == known_lines().size()) return std::nullopt;
        return known_lines()[next++];
      };
    };
    const auto learnt = [&](const VocabularyConfig& c) {
      return std::make_shared<const Vocabulary>(learn_vocabulary(c, open, "shared"));
    };
    const auto pieces = learnt(words), source = source_words ? learnt(*source_words) : pieces;
    ModelConfig config = small_configs()[0].config;
    config.source_vocabulary = source->size();
    config.target_vocabulary = pieces->size();
    config.tied = source_words ? Tied::output : Tied::all;
    config.decoder_self_attention = self_attention;
    config.kind = kind;
    const SmallModel small(config, kernels_for("baseline"), 1);
    std::filesystem::create_directories(path);
    write_vocabularies(path, {source, pieces});
    write_weights(weights_path(path), small.model.parameters, small.model.parameters.weights());
    const nlohmann::json recipe = {{"vocabulary", {{"source_eos", source_eos}}},
                                   {"data", {{"max_length", max_length}}}};
    write_file(path + "/config.json",
               {nlohmann::json({{"format", 1}, {"model", to_json(config)}, {"recipe", recipe}}).dump(1)});
  }
  ~ModelFolder() { std::filesystem::remove_all(path); }

  const std::string path;
};

}  // namespace dragoman::internal
