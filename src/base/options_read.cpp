// Where option values come from: recipes, flags and saved configurations.
#include <charconv>

#include <nlohmann/json.hpp>
#include <toml++/toml.h>

#include "base/files.h"
#include "base/nearest.h"
#include "base/options.h"

namespace dragoman {
namespace {

[[noreturn]] void fits_no_option(const std::string& place, const std::string& key) {
  throw UsageError("{}: {} is neither a number, a text, true or false, nor a list of texts", place, key);
}

OptionValue value_of(const toml::node& node, const std::string& place, const std::string& key) {
  if (const auto flag = node.value_exact<bool>()) return *flag;
  if (const auto whole = node.value_exact<int64_t>()) return *whole;
  if (const auto real = node.value_exact<double>()) return *real;
  if (const auto text = node.value_exact<std::string>()) return *text;
  std::vector<std::string> items;
  const toml::array* array = node.as_array();
  for (size_t i = 0; array && i < array->size(); ++i) {
    if (const auto item = (*array)[i].value_exact<std::string>()) items.push_back(*item);
  }
  if (array && items.size() == array->size()) return items;
  fits_no_option(place, key);
}

OptionValue value_of(const nlohmann::json& json, const std::string& place, const std::string& key) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX) return json.get<double>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  const auto is_text = [](const nlohmann::json& item) { return item.is_string(); };
  if (json.is_array() && std::all_of(json.begin(), json.end(), is_text)) {
    return json.get<std::vector<std::string>>();
  }
  fits_no_option(place, key);
}

template <typename Number>
bool whole_text_is(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
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

// A flag has no quotes, so that the option must say whether 512 is a number or a text.
OptionValue value_of(const std::string& text, const Option& option) {
  const OptionValue& like = option.default_value;
  if (std::holds_alternative<std::vector<std::string>>(like)) return split_at_commas(text);
  if (std::holds_alternative<std::string>(like)) return text;
  if (text == "true" || text == "false") return text == "true";
  int64_t whole;
  if (whole_text_is(text, whole)) return whole;
  double real;
  if (whole_text_is(text, real)) return real;
  return text;
}

std::string at_line(const std::string& path, const toml::source_region& region) {
  return fmt::format("{}:{}", path, region.begin.line);
}

toml::table parse(const std::string& text, const std::string& path) {
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw UsageError("{}: {}", at_line(path, error.source()), std::string(error.description()));
  }
}

}  // namespace

void Options::read_recipe_file(const std::string& path) { read_recipe(read_file(path), path); }

void Options::read_recipe(const std::string& text, const std::string& path) {
  const toml::table recipe = parse(text, path);
  for (const auto& [section, node] : recipe) {
    const std::string name(section.str());
    const toml::table* table = node.as_table();
    if (!table) {
      throw UsageError("{}: {} stands outside every table; the nearest option is {}",
                       at_line(path, section.source()), name, nearest_option(name).key());
    }
    check_section(name, at_line(path, section.source()));
    for (const auto& [key, value] : *table) {
      const std::string place = at_line(path, key.source());
      Option& option = find(name + "." + std::string(key.str()), place);
      assign(option, value_of(value, place, option.key()), place);
    }
  }
}

void Options::set_flag(const std::string& key, const std::string& text) {
  Option& option = find(key, "the command line");
  assign(option, value_of(text, option), "the command line");
}

nlohmann::json Options::to_json() const {
  nlohmann::json json = nlohmann::json::object();
  for (const Option& option : options_) {
    if (option.section.empty()) continue;
    std::visit([&](const auto& value) { json[option.section][option.name] = value; }, option.get());
  }
  return json;
}

void Options::from_json(const nlohmann::json& saved, const std::string& path) {
  if (!saved.is_object()) throw Error("{}: a JSON object was expected", path);
  for (const auto& [section, values] : saved.items()) {
    check_section(section, path);
    if (!values.is_object()) throw Error("{}: \"{}\" must be a JSON object", path, section);
    for (const auto& [name, value] : values.items()) {
      Option& option = find(section + "." + name, path);
      assign(option, value_of(value, path, option.key()), path);
    }
  }
}

}  // namespace dragoman
