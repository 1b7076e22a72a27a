#include "app/shared_options.h"

#include <filesystem>

namespace dragoman::internal {

void declare_model(Section& own, std::string& model, const char* help) {
  own.add("model", model, help).shows("DIR").letter('m');
}

void declare_models(Section& own, std::vector<std::string>& models) {
  own.add("model", models, "model folder; several form an ensemble, which averages their probabilities")
      .shows("DIR")
      .letter('m');
}

void declare_search(Options& options, SearchOptions& search) {
  auto section = options.section("", "Search");
  declare(section, search);
}

void add_search(CommandLine& line, Options& options) {
  SearchOptions search;
  Options table;
  declare_search(table, search);
  line.add_shared_options(options, table);
}

void declare_source(Section& own, std::string& file) {
  own.add("source", file, "source sentences, one per line; - is standard input").shows("FILE");
}

void declare_references(Section& own, std::vector<std::string>& files) {
  own.add("reference", files,
          "reference translations, line by line; several are other translations of the same")
      .shows("FILE");
}

void declare_format(Section& own, OutputFormat& format, const char* help) {
  own.add("format", format, help, {{"text", OutputFormat::text}, {"json", OutputFormat::json}});
}

void declare_output_file(Section& own, std::string& out, const char* help) {
  own.add("out", out, help).shows("FILE");
}

void declare_new_model(Section& own, std::string& folder, const char* help) {
  own.add("out", folder, help).shows("DIR");
}

void add_recipe(CommandLine& line, std::string& path) {
  line.add_argument("RECIPE", path, "a TOML file; recipes/ has commented examples");
}

void declare_run_folder(Section& own, std::string& folder) {
  own.add("out", folder, "model folder; by default models/NAME-OF-RECIPE").shows("DIR");
}

std::string default_run_folder(const std::string& recipe_path) {
  return "models/" + std::filesystem::path(recipe_path).stem().string();
}

void declare_imported_precision(Section& own, dragoman::Precision& precision) {
  own.add("precision", precision,
          "precision of the new weights; as-saved: int8 where the model has integers, else fp32; only fp32 "
          "can be trained",
          {{"as-saved", dragoman::Precision::as_saved},
           {"fp32", dragoman::Precision::fp32},
           {"bf16", dragoman::Precision::bf16},
           {"int8", dragoman::Precision::int8}});
}

}  // namespace dragoman::internal
