// Options that several commands have, each declared here alone. How to search: search/options.h; a recipe's
// options: train/recipe.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/options.h"
#include "app/command_line.h"
#include "base/options.h"
#include "dragoman/translator.h"
#include "model/decoding_weights.h"
#include "search/options.h"

namespace dragoman::internal {

// A model; how it runs: api/options.h.
void declare_model(Section& own, std::string& model, const char* help = "model folder");
void declare_models(Section& own, std::vector<std::string>& models);

// The search options of a command, in a group of their own, which the commands that search share.
void declare_search(Options& options, SearchOptions& search);
void add_search(CommandLine& line, Options& options);

// Text that belongs together line by line.
void declare_source(Section& own, std::string& file);
void declare_references(Section& own, std::vector<std::string>& files);

// Where results go.
enum class OutputFormat { text, json };
void declare_format(Section& own, OutputFormat& format, const char* help);
void declare_output_file(Section& own, std::string& out,
                         const char* help = "output file; - is standard output");
void declare_new_model(Section& own, std::string& folder, const char* help = "folder of the new model");

// Of a model of another system.
void declare_imported_precision(Section& own, dragoman::Precision& precision);

// A recipe, and the folder that training writes.
void add_recipe(CommandLine& line, std::string& path);
void declare_run_folder(Section& own, std::string& folder);
std::string default_run_folder(const std::string& recipe_path);

}  // namespace dragoman::internal
