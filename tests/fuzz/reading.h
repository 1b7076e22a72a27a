// What the targets share.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/options.h"
#include "temporary_folder.h"

namespace dragoman::internal {

using Seeds = std::vector<std::string>;

inline const std::filesystem::path source_folder = DRAGOMAN_SOURCE_DIR;

// A model's folder, with its run's.
inline const std::filesystem::path fixture = source_folder / "tests/golden/fixtures/version_0_1";

// A copy of a fixture's folder, for targets that damage one of its files. It lives as long as the process.
inline const TemporaryFolder& copy_of(const std::filesystem::path& folder) {
  auto* const copy = new TemporaryFolder;
  std::filesystem::copy(folder, copy->path(""), std::filesystem::copy_options::recursive);
  return *copy;
}

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  CHECK(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Seeds contents_of_all(const std::filesystem::path& folder, const std::string& extension) {
  Seeds seeds;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == extension) seeds.push_back(contents(file.path()));
  return seeds;
}

// Why `read` refused; empty if it did not.
template <class Function>
std::string refusal(Function&& read) {
  try {
    read();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// Reads a recipe as the program does; `complete(options, recipe)` sets what it leaves open.
template <class AnyRecipe, class Complete>
std::string refusal_of_recipe(std::string_view bytes, const Complete& complete) {
  return refusal([&] {
    AnyRecipe recipe;
    Options options;
    declare(options, recipe);
    options.read_recipe(std::string(bytes), "recipe.toml");
    complete(options, recipe);
    options.check([&] { validate(recipe); });
    options.to_json();
  });
}

}  // namespace dragoman::internal
