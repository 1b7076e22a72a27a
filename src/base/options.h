// Options, each declared once: from the declaration come the recipe's keys (TOML), the command line's flags,
// their checks and errors, the help, the documentation and the saved configuration (JSON).
//
//   void declare(Options& options, ModelConfig& c) {
//     auto model = options.section("model", "The Transformer");
//     model.add("d_model", c.d_model, "width of every layer's input and output", at_least(1));
//     model.add("norm", c.norm, "where a layer normalises", {{"pre", NormOrder::pre}, {"post", NormOrder::post}});
//   }
//
// A variable's value when it is declared is its default. Options keep references: the variables must outlive
// them and stay in place. Options of the section "" are a command's own: flags without a prefix (--beam), in
// neither recipes nor saved configurations.
//
// Every mistake is a UsageError that says what, where (file and line, or flag) and what was expected.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"

namespace dragoman {

// What a file or a flag gives; an option's own type may take it or not. Names of an enum are strings here.
using OptionValue = std::variant<bool, int64_t, double, std::string, std::vector<std::string>>;

// Which numbers an option takes: at_least(1), above(0), at_least(0).below(1), any_number().
struct Range {
  double least, most;
  bool min_included = true, max_included = true;

  Range at_most(double limit) const { return {least, limit, min_included, true}; }
  Range below(double limit) const { return {least, limit, min_included, false}; }
  bool contains(double value) const;
  std::string text() const;  // "at least 0 and below 1"
};
Range any_number();
Range at_least(double limit);
Range above(double limit);

// An option whose value is good by itself but not beside another's. Thrown by the checks of a configuration
// (validate), without a place: Options::check adds it.
class OptionError : public UsageError {
 public:
  OptionError(const std::string& option, const std::string& what)
      : UsageError("{} {}", option, what), key(option) {}
  const std::string key;
};

struct Option {
  std::string section, name, help;
  std::string kind;      // how help shows a value: N, X, TEXT, A,B,... or pre|post
  std::string expected;  // "a whole number"
  std::string limits;    // "at least 1"; may be empty
  bool is_flag = false;  // a bool: --name alone means true
  std::function<OptionValue()> get;
  std::function<bool(const OptionValue&)> set;  // false, and nothing done, where the value does not fit
  OptionValue default_value;
  std::string origin = {};  // "recipes/copy.toml:12" or "the command line"; empty: the default

  std::string key() const { return section.empty() ? name : section + "." + name; }
  std::string must_be() const { return limits.empty() ? expected : expected + ", " + limits; }
};

class Section;

class Options {
 public:
  Section section(const std::string& name, const std::string& title);

  // Sets the variables that the file names. read_recipe takes the text itself and the name for errors.
  void read_recipe_file(const std::string& path);
  void read_recipe(const std::string& text, const std::string& path);

  // Sets one variable from a flag's text. A list's items are separated by commas; no text is no item.
  void set_flag(const std::string& key, const std::string& text);

  // Whether a recipe or a flag named the option, be it with its default.
  bool is_given(const std::string& key) const;

  // Whether every variable holds what its option allows, whoever set it; else throws OptionError.
  void check_values() const;

  // Runs a check over the variables; an OptionError gets the place that the value came from.
  void check(const std::function<void()>& validate) const;

  // Every value, by section and name; and back. A key that is missing keeps its default: a later version added it.
  nlohmann::json to_json() const;
  void from_json(const nlohmann::json& saved, const std::string& path);

  std::string help() const;      // for a terminal of 100 columns
  std::string markdown() const;  // a table for each section

  const std::vector<Option>& all() const { return options_; }

 private:
  friend class Section;

  Option& find(const std::string& key, const std::string& place);
  const Option& nearest_option(const std::string& key) const;
  void assign(Option& option, const OptionValue& value, const std::string& place);
  void check_section(const std::string& name, const std::string& place) const;

  std::vector<std::pair<std::string, std::string>> sections_;  // name and title
  std::vector<Option> options_;
};

// How a value is written in a recipe: 512, 1e-9, true, "pre", ["a", "b"].
std::string to_text(const OptionValue& value);

// Where options are declared.
class Section {
 public:
  Section(Options& options, std::string name) : options_(options), name_(std::move(name)) {}

  void add(const char* name, bool& variable, const char* help);
  void add(const char* name, int64_t& variable, const char* help, Range range = any_number());
  void add(const char* name, double& variable, const char* help, Range range = any_number());
  // A whole number, or a word for a value outside the range: {"auto", 0}.
  void add(const char* name, int64_t& variable, const char* help, Range range,
           std::pair<const char*, int64_t> word);
  void add(const char* name, std::string& variable, const char* help);
  void add(const char* name, std::vector<std::string>& variable, const char* help);

  template <typename Enum>
  using Names = std::vector<std::pair<std::string, Enum>>;

  template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
  void add(const char* name, Enum& variable, const char* help, Names<std::type_identity_t<Enum>> names) {
    std::vector<std::string> texts;
    for (const auto& [text, value] : names) texts.push_back(text);
    const auto get = [&variable, names]() -> OptionValue {
      for (const auto& [text, value] : names) {
        if (value == variable) return text;
      }
      return std::string("without a name");  // which set() refuses
    };
    const auto set = [&variable, names](const OptionValue& given) {
      for (const auto& [text, value] : names) {
        if (given != OptionValue(text)) continue;
        variable = value;
        return true;
      }
      return false;
    };
    add_choice(name, help, texts, get, set);
  }

 private:
  void add_choice(const char* name, const char* help, const std::vector<std::string>& texts,
                  std::function<OptionValue()> get, std::function<bool(const OptionValue&)> set);
  void add_option(Option option);

  Options& options_;
  std::string name_;
};

}  // namespace dragoman
