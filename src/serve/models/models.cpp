#include "serve/models/models.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "serve/models/adapted.h"
#include "serve/models/folder_languages.h"
#include "serve/models/named_folder.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

int64_t default_beam(const dragoman::ModelInfo& info) {
  const nlohmann::json config = parse_json(info.config);
  if (config.contains("search") && config["search"].is_object() && config["search"].contains("beam") &&
      config["search"]["beam"].is_number_integer())
    return config["search"]["beam"].get<int64_t>();
  for (const OptionInfo& option : dragoman::Translator::options())
    if (option.name == "beam") return std::get<int64_t>(option.default_value);
  return 1;
}

std::vector<std::string> codes_of(const std::map<std::string, std::string>& languages) {
  std::vector<std::string> codes;
  for (const auto& [code, name] : languages) codes.push_back(code);
  return codes;
}

std::shared_ptr<dragoman::Translator> open_translator(const std::string& folder,
                                                      const dragoman::TranslatorSettings& settings,
                                                      TranslatorReaper& reaper) {
  return reaper.adopt(std::make_unique<dragoman::Translator>(folder, settings));
}

// In the model's place, where there is one that can be.
void open_adapted(ServedModel& model, const std::string& folder, const dragoman::TranslatorSettings& settings,
                  TranslatorReaper& reaper) {
  std::error_code none;
  if (!std::filesystem::exists(folder, none)) return;
  try {
    const Adaptation adaptation = read_adaptation(folder, model.folder);
    model.translator = open_translator(folder, settings, reaper);
    model.adaptation = adaptation;
    log_info("{} is served in place of {}", folder, model.folder);
  } catch (const dragoman::Error& error) {
    log_warning("{} is served as it is, since {} cannot be: {}", model.folder, folder, error.what());
  }
}

// English first: most models have it on one side.
bool is_better_pivot(const std::string& one, const std::string& other) {
  return std::pair(one != "en", one) < std::pair(other != "en", other);
}

}  // namespace

OpenModel open_model(const std::string& argument, const dragoman::TranslatorSettings& settings,
                     TranslatorReaper& reaper, const std::optional<std::string>& adapted) {
  const auto [name, folder] = named_folder(argument);
  OpenModel model = {.state = state_of_both(folder, adapted)};
  model.served = {.name = name.empty() ? last_part(folder) : name, .folder = folder};
  if (adapted) open_adapted(model.served, adapted_folder(folder, *adapted), settings, reaper);
  if (!model.served.translator) model.served.translator = open_translator(folder, settings, reaper);
  dragoman::ModelInfo info = model.served.translator->info();
  if (info.language_model) return model;  // it translates no pair
  info.folder = folder;                   // whose name may say the languages
  ModelLanguages languages = languages_of(info, name);
  model.sources = std::move(languages.sources);
  model.targets = std::move(languages.targets);
  model.served.sources = codes_of(model.sources);
  model.served.targets = codes_of(model.targets);
  model.beam = default_beam(info);
  return model;
}

ServedModels::ServedModels(std::vector<OpenModel> models) : models_(std::move(models)) {
  for (size_t i = 0; i < models_.size(); ++i) {
    for (const std::string& from : models_[i].served.sources) {
      const size_t before = pairs_.size();
      for (const std::string& to : models_[i].served.targets) {
        if (from == to) continue;
        const auto [other, added] = direct_.emplace(LanguagePair(from, to), i);
        pairs_.push_back({from, to});
        if (!added)
          throw UsageError("both {} and {} translate from {} to {}: serve one of them, or name their pairs",
                           models_[other->second].served.folder, models_[i].served.folder, from, to);
      }
      if (pairs_.size() > before && std::ranges::find(sources_, from) == sources_.end())
        sources_.push_back(from);
    }
  }
  find_pivots();
  for (const auto& [pair, third] : through_) pairs_.push_back({pair.first, pair.second, {third}});
  languages_ = std::make_shared<const ServedLanguages>(pairs_);
}

// With a single multilingual model there is nothing to find.
void ServedModels::find_pivots() {
  if (models_.size() < 2) return;
  std::map<std::string, std::set<std::string>> onwards;
  for (const auto& [pair, model] : direct_) onwards[pair.first].insert(pair.second);
  for (const auto& [from, thirds] : onwards) {
    for (const std::string& third : thirds) {
      const auto next = onwards.find(third);
      if (next == onwards.end()) continue;
      for (const std::string& to : next->second) {
        if (to == from || thirds.contains(to)) continue;
        const auto [known, added] = through_.emplace(LanguagePair(from, to), third);
        if (!added && is_better_pivot(third, known->second)) known->second = third;
      }
    }
  }
}

void ServedModels::require_pairs() const {
  if (pairs_.empty()) throw UsageError("no model that translates is loaded: /v1/generate continues texts");
}

std::string ServedModels::known_source(const std::string& language) const {
  require_pairs();
  if (language.empty() && sources_.size() == 1) return sources_.front();
  if (const auto known = languages_->source(language)) return *known;
  throw UsageError("no model translates from \"{}\", only from {}", language, fmt::join(sources_, ", "));
}

std::string ServedModels::known_target(const std::string& language, const std::string& from) const {
  const auto targets = languages_->targets_of().find(from);
  if (targets == languages_->targets_of().end()) throw UsageError("no model translates from {}", from);
  const std::set<std::string>& all = targets->second;
  if (language.empty()) {
    if (all.size() == 1) return *all.begin();
    throw UsageError("no target language given for {}: name one of {}", from, fmt::join(all, ", "));
  }
  if (language_code(language) == from) return from;
  if (const auto known = ServedLanguages::find(all, language)) return *known;
  if (const auto same = ServedLanguages::find({from}, language)) return *same;
  throw UsageError("no model translates from {} to \"{}\", only to {}", from, language, fmt::join(all, ", "));
}

RouteStep ServedModels::step(const LanguagePair& pair) const {
  const OpenModel& model = models_[direct_.at(pair)];
  return {.model = {model.served.translator, model.sources.at(pair.first), model.targets.at(pair.second)},
          .folder = model.served.folder,
          .from = pair.first,
          .to = pair.second,
          .beam = model.beam};
}

LanguageRoute ServedModels::route(const std::string& from, const std::string& to) const {
  if (from == to) return {};
  const LanguagePair pair(from, to);
  if (direct_.contains(pair)) return {step(pair)};
  const auto third = through_.find(pair);
  if (third == through_.end()) throw UsageError("no model translates from {} to {}", from, to);
  return {step({from, third->second}), step({third->second, to})};
}

}  // namespace dragoman::internal
