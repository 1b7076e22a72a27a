#include "search/saved_model.h"

#include <algorithm>
#include <functional>
#include <future>

#include <fmt/format.h>

#include "base/error.h"
#include "base/quotes.h"
#include "data/corpus_config.h"
#include "model/folder.h"
#include "text/language_codes.h"
#include "text/language_tokens.h"
#include "text/term_marks.h"

namespace dragoman::internal {
namespace {

constexpr double share_of_paragraphs = 0.25;  // of the lines in training, with several sentences each

void check_sizes(const std::string& folder, const ModelConfig& config, const Vocabularies& vocabularies) {
  const auto check = [&](const char* side, int64_t expected, const Vocabulary& vocabulary) {
    if (expected == vocabulary.size()) return;
    throw Error(
        "{}/config.json has {} {} tokens, but the vocabulary in the folder has {}: take both from the same "
        "model",
        folder, expected, side, vocabulary.size());
  };
  check("source", config.source_vocabulary, *vocabularies.source);
  check("target", config.target_vocabulary, *vocabularies.target);
}

int64_t positions_of(const ModelConfig& model) {
  return has_fixed_length(model.positions) ? model.max_positions : INT32_MAX;
}

// From the recipe that the model was trained with; defaults where an older version did not save it.
SourceReader reader_of(const std::string& folder, const nlohmann::json& config, const ModelConfig& model,
                       const Vocabularies& words) {
  DataConfig data;
  VocabularyConfig vocabulary;
  Options options;
  declare(options, data);
  declare(options, vocabulary);
  for (const auto& [section, key] :
       {std::pair("data", "max_length"), std::pair("data", "terms"), std::pair("vocabulary", "source_eos")}) {
    const nlohmann::json::json_pointer place(fmt::format("/recipe/{}/{}", section, key));
    if (config.contains(place))
      options.from_json({{section, {{key, config.at(place)}}}}, folder + "/config.json");
  }
  return {
      .vocabulary = words.source,
      .end_mark = vocabulary.source_eos && words.source->special().end >= 0,
      .max_length = std::clamp<int64_t>(data.max_length, 1, std::max<int64_t>(1, positions_of(model) - 1)),
      .positions = positions_of(model),
      .reads_terms = !data.terms.empty() && term_marks(*words.source).has_value()};
}

// A model of one pair translates between its own languages; one that does not say which these are takes any.
void check_pair(const std::string& own, const std::string& wanted, const char* key,
                const std::vector<std::string>& languages) {
  if (own.empty() || !languages.empty() || same_language(own, wanted)) return;
  throw OptionError(key, fmt::format("is {}, but this model translates {} {}", in_quotes(wanted), key, own));
}

// Reads the model's weights and returns its vocabularies. They are read at the same time, since parsing the one takes
// as long as verifying the other. Vocabularies that do not fit say more than weights that do not.
Vocabularies read(const std::string& folder, Transformer& model, RequestedPrecision precision, bool verify,
                  const std::function<void(const Vocabularies&)>& check) {
  auto words = std::async([&] {
    Vocabularies vocabularies = read_vocabularies(folder);
    check(vocabularies);
    check_sizes(folder, model.config, vocabularies);
    return vocabularies;
  });
  try {
    map_weights(model.device, existing_weights(folder), model.parameters, precision, verify);
  } catch (const Error&) {
    words.get();
    throw;
  }
  return words.get();
}

}  // namespace

// A model that was trained here translates between the languages that it was trained with.
SearchOptions read_search_options(const std::string& folder, const nlohmann::json& config) {
  SearchOptions search;
  const auto kind = "/model/kind"_json_pointer;
  if (config.contains(kind) && config.at(kind) == "language_model") search = language_model_search();
  for (auto [key, language] :
       {std::pair("/recipe/data/from", &search.from), {"/recipe/data/to", &search.to}}) {
    const nlohmann::json::json_pointer place(key);
    if (config.contains(place) && config.at(place).is_string()) *language = config.at(place);
  }
  if (!config.contains("search")) return search;
  Options options;
  auto own = options.section("search", "Defaults of the search");
  declare(own, search);
  options.from_json({{"search", config.at("search")}}, folder + "/config.json");
  try {
    validate(search);
  } catch (const OptionError& error) {
    throw Error("{}/config.json: search.{}", folder, error.what());
  }
  return search;
}

bool reads_paragraphs(const nlohmann::json& config) {
  return config.value("/data/several_sentences"_json_pointer, 0.0) >= share_of_paragraphs;
}

SavedModel::SavedModel(const std::string& folder_, const Kernels& kernels, int threads,
                       RequestedPrecision precision, bool verify)
    : folder(folder_),
      config(read_config(folder)),
      search(read_search_options(folder, config)),
      by_sentence(!reads_paragraphs(config)),
      device(kernels, threads),
      model(read_model_config(folder, config), device, Buffers::none_yet) {
  vocabularies = read(folder, model, precision, verify, [](const Vocabularies&) {});
  readers.push_back(reader_of(folder, config, model.config, vocabularies));
  max_positions = positions_of(model.config);
}

void SavedModel::add(const std::string& other, RequestedPrecision precision, bool verify) {
  const nlohmann::json theirs = read_config(other);
  auto added = std::make_unique<Transformer>(read_model_config(other, theirs), device, Buffers::none_yet);
  if (has_encoder(added->config) != has_encoder(model.config))
    throw UsageError(
        "{} and {} cannot form an ensemble, since one is a language model: give that one as --language-model",
        folder, other);
  const Vocabularies words = read(other, *added, precision, verify, [&](const Vocabularies& read) {
    if (read.target->model() == vocabularies.target->model()) return;
    throw Error("{} and {} have different target vocabularies, and cannot translate together", folder, other);
  });
  readers.push_back(reader_of(other, theirs, added->config, words));
  max_positions = std::min(max_positions, positions_of(added->config));
  others.push_back(std::move(added));
}

void SavedModel::fuse(const std::string& folder_of_model, double weight, RequestedPrecision precision,
                      bool verify) {
  language_model = std::make_unique<Transformer>(
      read_model_config(folder_of_model, read_config(folder_of_model)), device, Buffers::none_yet);
  if (has_encoder(language_model->config))
    throw UsageError("{} is no language model, and cannot be fused with {}", folder_of_model, folder);
  read(folder_of_model, *language_model, precision, verify, [&](const Vocabularies& words) {
    if (words.target->model() == vocabularies.target->model()) return;
    throw Error(
        "{} has another vocabulary than the target of {}: train it with that one, as vocabulary.from in its "
        "recipe",
        folder_of_model, folder);
  });
  max_positions = std::min(max_positions, positions_of(language_model->config));
  fusion = {language_model.get(), weight};
}

Models SavedModel::models() {
  Models all = {&model};
  for (const auto& other : others) all.push_back(other.get());
  return all;
}

Direction SavedModel::direction(const SearchOptions& options) const {
  const std::string &from = options.from.empty() ? search.from : options.from,
                    &to = options.to.empty() ? search.to : options.to, &split = options.split_sentences;
  check_pair(search.from, from, "from", source_languages(vocabularies));
  check_pair(search.to, to, "to", target_languages(vocabularies));
  Direction direction = {
      .sources = {},
      .start = start_tokens(*vocabularies.target, language_token(*vocabularies.target, to, "to")),
      .by_sentence = split == "auto" ? by_sentence : !split.empty() && split != "none",
      .language = split.empty() || split == "auto" || split == "none" ? from : split,
      .output_language = to,
      .folded = options.replace_unknown};
  if (!has_encoder(model.config)) return direction;
  for (const SourceReader& reader : readers) {
    const auto language = source_language_token(*reader.vocabulary, from, "from", to, "to");
    if (direction.sources.empty()) direction.from = language.value_or(-1);
    direction.sources.push_back(source_frame(*reader.vocabulary, reader.end_mark, language));
  }
  return direction;
}

std::vector<int32_t> SavedModel::encode_source(std::string_view text, const SearchOptions& options) const {
  std::vector<int32_t> ids = vocabularies.source->encode(text);
  if (!ids.empty()) direction(options).sources[0].add_to(ids);
  return ids;
}

const Shortlist& SavedModel::shortlist() {
  if (!shortlist_) shortlist_ = Shortlist::read(folder, vocabularies);
  return *shortlist_;
}

void SavedModel::find_shortlist() {
  try {
    shortlist();
  } catch (const Error&) {
    // Who asks for it learns why there is none.
  }
}

void throw_not_finite(const SavedModel& model) {
  throw Error("{}{}{} computes non-finite values: it is damaged, or its training diverged; use another model",
              model.folder, model.others.empty() ? "" : ", or another model of the ensemble,",
              model.language_model == nullptr ? "" : ", or the language model beside it,");
}

}  // namespace dragoman::internal
