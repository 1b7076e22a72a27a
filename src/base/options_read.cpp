// Where option values come from: recipes, flags and saved configurations.
#include <algorithm>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/nearest.h"
#include "base/options.h"
#include "base/parse_number.h"
#include "base/quotes.h"
#include "base/toml.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

// For the end of a message about a recipe that is not there: another one that may be meant.
std::string recipe_meant(const std::string& path) {
  std::error_code none;
  std::vector<std::string> names;
  for (const std::string& name : {path + ".toml", "recipes/" + path, "recipes/" + path + ".toml"})
    if (fs::exists(name, none)) return "; did you mean " + name + "?";
  const fs::path folder = fs::path(path).parent_path();
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, none))
    if (entry.path().extension() == ".toml") names.push_back((folder / entry.path().filename()).string());
  std::ranges::sort(names);
  const std::string meant = suggestion(path, names);
  return meant.empty() ? ": check the path" : meant;
}

[[noreturn]] void fits_no_option(const std::string& place, const std::string& key) {
  throw UsageError("{}: {} must be a number, a string, true or false, or a list of numbers or of strings",
                   place, shortened(key));
}

OptionValue value_of(const toml::node& node, const std::string& place, const std::string& key) {
  if (const auto flag = node.value_exact<bool>()) return *flag;
  if (const auto whole = node.value_exact<int64_t>()) return *whole;
  if (const auto real = node.value_exact<double>()) return *real;
  if (const auto text = node.value_exact<std::string>()) return *text;
  const toml::array* array = node.as_array();
  if (!array) fits_no_option(place, key);
  std::vector<std::string> texts;
  std::vector<double> numbers;
  for (const toml::node& item : *array) {
    if (const auto text = item.value_exact<std::string>()) texts.push_back(*text);
    if (item.is_number()) numbers.push_back(*item.value<double>());
  }
  if (texts.size() == array->size()) return texts;
  if (numbers.size() == array->size()) return numbers;
  fits_no_option(place, key);
}

OptionValue value_of(const nlohmann::json& json, const std::string& place, const std::string& key) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX) return json.get<double>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  const auto all = [&](bool (nlohmann::json::*has_type)() const noexcept) {
    return json.is_array() && std::ranges::all_of(json, [&](const auto& item) { return (item.*has_type)(); });
  };
  if (all(&nlohmann::json::is_string)) return json.get<std::vector<std::string>>();
  if (all(&nlohmann::json::is_number)) return json.get<std::vector<double>>();
  fits_no_option(place, key);
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> items;
  if (text.empty()) return items;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    items.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

// A flag has no quotes: the option tells whether 512 is a number or a string. A number's default may be a word.
OptionValue value_of(const std::string& text, const Option& option) {
  if (option.is_list()) return split_at_commas(text);
  const bool is_number = option.kind.starts_with("N|");
  if (std::holds_alternative<std::string>(option.default_value) && !is_number) return text;
  if (text == "true" || text == "false") return text == "true";
  if (const auto whole = parse_number<int64_t>(text)) return *whole;
  if (const auto real = parse_number<double>(text)) return *real;
  return text;
}

// The options that one recipe or configuration has set: each may stand there under one of its names only.
class SetOnce {
 public:
  explicit SetOnce(const std::string& file) : file_(file) {}

  bool has(const Option& option) const { return seen_.contains(&option); }

  void add(const Option& option) {
    if (seen_.insert(&option).second) return;
    throw UsageError("{}: {} is the former name of {}, which is also set: remove it", file_,
                     option.former_key(), option.key());
  }

 private:
  const std::string& file_;
  std::set<const Option*> seen_;
};

}  // namespace

void Options::read_recipe_file(const std::string& path) {
  std::error_code none;
  if (!fs::exists(path, none)) throw Error("there is no recipe {}{}", path, recipe_meant(path));
  read_recipe(read_file(path), path);
}

void Options::read_recipe(const std::string& text, const std::string& path) {
  const toml::table recipe = parse_toml(text, path);
  SetOnce once(path);
  for (const auto& [section, node] : recipe) {
    const std::string name(section.str());
    const toml::table* table = node.as_table();
    if (!table) {
      throw UsageError("{}: {} is outside any table{}", at_line(path, section.source()), shortened(name),
                       suggestion(name));
    }
    check_section(name, at_line(path, section.source()));
    for (const auto& [key, value] : *table) {
      const std::string place = at_line(path, key.source());
      Option& option = find(name + "." + std::string(key.str()), place);
      once.add(option);
      assign(option, value_of(value, place, option.key()), place);
    }
  }
}

void Options::set_flag(const std::string& key, const std::string& text) {
  Option& option = find(key, "the command line");
  assign(option, value_of(text, option), "the command line");
}

void Options::set(const std::string& key, const OptionValue& value, const std::string& place) {
  Option& option = find(key, place);
  assign(option, value, place);
}

// A list of numbers is saved as strings, which is how every version reads it.
nlohmann::json Options::to_json() const {
  nlohmann::json json = nlohmann::json::object();
  for (const Option& option : options_) {
    if (option.section.empty()) continue;
    nlohmann::json& saved = json[option.section][option.name];
    const OptionValue value = option.get();
    if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
      saved = nlohmann::json::array();
      for (const double number : *numbers) saved.push_back(to_text(number));
    } else {
      std::visit([&](const auto& plain) { saved = plain; }, value);
    }
  }
  return json;
}

void Options::from_json(const nlohmann::json& saved, const std::string& path, UnknownKeys unknown) {
  if (!saved.is_object()) throw Error("{}: expected a JSON object", path);
  SetOnce once(path);
  for (const auto& [section, values] : saved.items()) {
    if (unknown == UnknownKeys::refuse) check_section(section, path);
    if (!values.is_object()) throw Error("{}: \"{}\" must be a JSON object", path, shortened(section));
    for (const auto& [name, value] : values.items()) {
      const std::string key = section + "." + name;
      if (unknown == UnknownKeys::ignore && !find(key)) continue;
      Option& option = find(key, path);
      once.add(option);
      assign(option, value_of(value, path, option.key()), path);
    }
  }
  for (Option& option : options_) {
    if (option.historical_default && saved.contains(option.section) && !once.has(option))
      assign(option, *option.historical_default, path);
  }
}

}  // namespace dragoman::internal
