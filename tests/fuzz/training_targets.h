// The fuzz targets of what a training run reads: recipes, flags, its own files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

std::string read_recipe(std::string_view bytes);
std::vector<std::string> recipe_seeds();
std::string read_flags(std::string_view bytes);
std::vector<std::string> flag_seeds();
std::string read_metrics_history(std::string_view bytes);
std::vector<std::string> metrics_seeds();
std::string read_checkpoint(std::string_view bytes);
std::vector<std::string> checkpoint_seeds();
std::string read_run_state(std::string_view bytes);
std::vector<std::string> run_state_seeds();

}  // namespace dragoman::internal
