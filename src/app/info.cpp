// dragoman info: prints what a model folder holds, or whether it is damaged.
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/verify_folder.h"
#include "base/build.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quotes.h"
#include "base/status_line.h"
#include "base/threads.h"
#include "kernels/devices.h"
#include "model/folder.h"
#include "model/transformer.h"
#include "model/weights_file.h"
#include "search/saved_model.h"
#include "text/language_tokens.h"
#include "text/vocabulary.h"
#include "train/metrics_log.h"
#include "train/run_model.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

void print_line(const std::string& name, const std::string& value) {
  std::cout << fmt::format("{:<24}{}\n", name, value);
}

void print_weights(const std::string& path, const ModelConfig& config) {
  const WeightsFile file(path);
  Device device(chosen_kernels(), 1);
  const Transformer model(config, device, Buffers::none_yet);
  int64_t parameters = 0;
  for (const Parameter& parameter : model.parameters.list()) parameters += parameter.size();
  print_line("parameters", fmt::format("{} in {} tensors, {}, {:.1f} MB", with_commas(parameters),
                                       model.parameters.list().size(), name_of(file.precision()),
                                       static_cast<double>(fs::file_size(path)) * 1e-6));
  if (!file.base().empty()) print_line("update of", file.base() + ", which has all other weights");
}

// The step that the weights are of, which only models written by a run record.
void print_origin(const std::string& folder) {
  const RunModel model = read_run_model(folder);
  if (model.step.empty()) return;
  const bool is_step = model.step.find_first_not_of("0123456789") == std::string::npos;
  print_line("step", model.step + (is_step ? ", the best so far" : "") +
                         (model.resumable ? "" : "; there is no checkpoint to resume from"));
}

// Wrapped, the first line after their number.
void print_languages(const std::string& name, const std::vector<std::string>& languages) {
  if (languages.empty()) return;
  std::string line = fmt::format("{}:", languages.size()), label = name;
  for (const std::string& language : languages) {
    if (line.size() + language.size() > 75) {
      print_line(label, line);
      line = label = "";
    }
    line += (line.empty() ? "" : " ") + language;
  }
  print_line(label, line);
}

// What a vocabulary consists of, by the recipe that the model was trained with, if it was.
std::string name_of_pieces(const nlohmann::json& recipe) {
  const std::string kind = recipe.value(nlohmann::json::json_pointer("/vocabulary/kind"), "bpe");
  return kind == "word" ? "words" : kind == "char" ? "characters" : "subwords";
}

void print_vocabularies(const std::string& folder, const std::string& pieces) {
  if (!fs::exists(folder + "/shared.spm") && !fs::exists(folder + "/source.spm"))
    return print_line("vocabulary", "none: the model was trained on symbols");
  const Vocabularies both = read_vocabularies(folder);
  print_line("vocabulary", both.shared()
                               ? fmt::format("{} {}, shared", with_commas(both.source->size()), pieces)
                               : fmt::format("{} source and {} target {}", with_commas(both.source->size()),
                                             with_commas(both.target->size()), pieces));
  const std::vector<std::string> from = source_languages(both), to = target_languages(both);
  print_languages(from == to ? "languages" : "source languages", from);
  if (from != to) print_languages("target languages", to);
}

// Of a model of one pair; and what it reads at once.
void print_direction(const std::string& folder, const nlohmann::json& config) {
  const SearchOptions search = read_search_options(folder, config);
  if (read_model_config(folder, config).kind == ModelKind::language_model)
    return print_line("continues", search.to.empty() ? "texts" : "texts in " + search.to);
  if (!search.from.empty() || !search.to.empty())
    print_line("translates", fmt::format("{} to {}", search.from.empty() ? "?" : search.from,
                                         search.to.empty() ? "?" : search.to));
  print_line("reads", reads_paragraphs(config) ? "paragraphs: lines stay whole"
                                               : "sentences: lines of several are split");
}

// How far it was trained, and its last validation.
void print_history(const std::string& path) {
  if (!fs::exists(path)) return;
  MetricsEvent validation, last;
  read_metrics(path, [&](const MetricsEvent& event) {
    if (event.event == "validation") validation = event;
    last = event;
  });
  print_line("trained", fmt::format("{} updates{}", with_commas(last.step),
                                    last.event == "end" ? "" : ", not finished"));
  if (validation.event.empty()) return;
  std::string measured = fmt::format("loss {:.3f}", validation.number("loss"));
  for (const auto& [key, name] :
       {std::pair("bleu", "BLEU"), std::pair("chrf", "chrF"), std::pair("exact_match", "exact match")}) {
    if (validation.values.contains(key)) measured += fmt::format(", {} {:.1f}", name, validation.number(key));
  }
  print_line("validation", measured + fmt::format(" after {} updates", with_commas(validation.step)));
}

// [table] and its values, as in a recipe.
void print_table(const std::string& name, const nlohmann::json& values) {
  std::cout << "\n[" << name << "]\n";
  for (const auto& [key, value] : values.items()) print_line(key, json_text(value));
}

// This program, and what a model can run on here.
void print_machine() {
  print_line("dragoman", build_name());
  print_line("processor",
             fmt::format("{}, {}", chosen_kernels().name, counted(available_threads(), "thread")));
  const std::vector<GpuDescription> found = gpus();
  for (const GpuDescription& gpu : found) {
    print_line(gpu.device, fmt::format("{}, {:.1f} GB{}", gpu.name, static_cast<double>(gpu.memory) * 1e-9,
                                       gpu.problem.empty() ? "" : "; " + gpu.problem));
  }
  if (found.empty()) print_line("GPU", "none: " + why_no_gpu());
}

}  // namespace

void info(const Arguments& arguments) {
  std::string folder;
  bool verify = false;
  Options options;
  options.section("", "Options")
      .add("verify", verify, "check the model, vocabularies, shards and checkpoints for damage instead");
  CommandLine line("info", summary_of("info"));
  line.add_argument("DIR", folder, "model folder; by default the program itself, and its processors and GPUs",
                    /*required=*/false);
  line.add_options(options);
  if (!line.read(arguments)) return;
  if (folder.empty() && verify) throw UsageError("info --verify needs a model folder");
  if (folder.empty()) return print_machine();
  if (verify) return verify_folder(folder);

  const nlohmann::json config = read_config(folder);
  const ModelConfig model = read_model_config(folder);
  const std::string weights = existing_weights(folder);
  print_line("folder", folder);
  print_line("format", json_text(config.at("format")));
  const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json made_by = config.value("made_by", none), recipe = config.value("recipe", none);
  for (const auto& [key, value] : made_by.items())
    print_line(key == "instruction_set" ? "trained with" : key,
               value.is_string() ? value.get<std::string>() : json_text(value));
  print_weights(weights, model);
  print_origin(folder);
  print_vocabularies(folder, name_of_pieces(recipe));
  print_direction(folder, config);
  print_history(folder + "/metrics.jsonl");
  print_table("model", config.at("model"));
  if (config.contains("search")) print_table("search", config.at("search"));
  for (const auto& [table, values] : recipe.items()) {
    if (table != "model") print_table(table, values);
  }
}

}  // namespace dragoman::internal
