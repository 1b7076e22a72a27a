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
// Every mistake is a UsageError that says what, where (file and line, or the command line) and what was expected.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"

namespace dragoman::internal {

// A value from a file or a flag, before it is checked against the option's own type. Names of an enum are strings here.
using OptionValue =
    std::variant<bool, int64_t, double, std::string, std::vector<std::string>, std::vector<double>>;

// Which numbers an option accepts: at_least(1), above(0), at_least(0).below(1), any_number().
struct Range {
  double min, max;
  bool min_included = true, max_included = true;

  Range at_most(double limit) const { return {min, limit, min_included, true}; }
  Range below(double limit) const { return {min, limit, min_included, false}; }
  bool contains(double value) const;
  std::string text() const;  // "at least 0 and below 1"
};
Range any_number();
Range at_least(double limit);
Range above(double limit);

// Which texts an option accepts. `kind`: how help shows one; `expected`: what an error asks for.
struct TextRule {
  const char *kind, *expected;
  bool (*allows)(const std::string& text);
};

// An option whose value is valid by itself but does not fit another option. Thrown by a configuration's checks
// (validate) without a place, which Options::check adds.
class OptionError : public UsageError {
 public:
  OptionError(const std::string& option, const std::string& what)
      : UsageError("{} {}", option, what), key(option) {}
  const std::string key;
};

struct Option {
  std::string section, name, help;
  std::string kind;        // how help shows a value: N, X, TEXT, FILE, A,B,... or pre|post
  char letter = 0;         // a flag's short form: m for -m; 0: it has none
  std::string expected;    // "a whole number"
  std::string limits;      // "at least 1"; may be empty
  bool is_switch = false;  // a bool: --name alone means true
  std::function<OptionValue()> get;
  std::function<bool(const OptionValue&)> set;  // false, and nothing changes, if the value is not allowed
  OptionValue default_value = {};
  std::string origin = {};  // "recipes/copy.toml:12" or "the command line"; empty: the default
  bool may_change_on_resume = false;
  std::string former_name = {};
  std::string short_key = {};  // without a section: device for training.device; empty: it has none
  std::optional<OptionValue> historical_default = {};

  std::string key() const { return key_of(name); }
  std::string former_key() const { return key_of(former_name); }
  bool is_list() const;
  std::string must_be() const { return limits.empty() ? expected : expected + ", " + limits; }

 private:
  std::string key_of(const std::string& n) const { return section.empty() ? n : section + "." + n; }
};

class Section;

// Keys of a saved configuration that no option has: another version's.
enum class UnknownKeys { refuse, ignore };

class Options {
 public:
  Section section(const std::string& name, const std::string& title);

  // Sets the variables that the file names. read_recipe takes the text itself and the name for errors.
  void read_recipe_file(const std::string& path);
  void read_recipe(const std::string& text, const std::string& path);

  // Sets one variable from a flag's text. Commas separate a list's items; an empty text is the empty list.
  void set_flag(const std::string& key, const std::string& text);

  // Sets one variable for a user of the library, who has neither file nor flag. `place`: for errors.
  void set(const std::string& key, const OptionValue& value, const std::string& place = "the options");

  // Whether a recipe or a flag set the option, even to its default.
  bool is_given(const std::string& key) const;

  // Throws OptionError if a variable holds a value that its option does not allow, whoever set it.
  void check_values() const;

  // Runs a check over the variables; an OptionError gets the place that the value came from.
  void check(const std::function<void()>& validate) const;

  // Every value, by section and name; and back. A missing key keeps its value, or gets its historical default where
  // it has one: a later version added it.
  nlohmann::json to_json() const;
  void from_json(const nlohmann::json& saved, const std::string& path,
                 UnknownKeys unknown = UnknownKeys::refuse);

  std::string help() const;      // for a terminal of 100 columns
  std::string markdown() const;  // a heading and a table for each section of a recipe
  std::string markdown(const std::string& section) const;  // only the table
  const std::string& title(const std::string& section) const;

  const std::vector<Option>& all() const { return options_; }
  const Option* find(const std::string& key) const;  // by any of its names; null if there is none
  const Option* find(char letter) const;

 private:
  friend class Section;
  friend class Declaration;

  Option& find(const std::string& key, const std::string& place);
  std::string suggestion(const std::string& key) const;  // as in nearest.h
  void assign(Option& option, const OptionValue& value, const std::string& place);
  void check_section(const std::string& name, const std::string& place) const;

  std::vector<std::pair<std::string, std::string>> sections_;  // name and title
  std::vector<Option> options_;
};

// How a value is written in a recipe: 512, 1e-9, true, "pre", ["a", "b"], [1, 0.5].
std::string to_text(const OptionValue& value);

// A name and its description in the columns of Options::help.
std::string help_line(const std::string& name, const std::string& help);

// Further properties of an option: section.add("threads", ...).may_change_on_resume().
class Declaration {
 public:
  Declaration(Options& options, size_t index) : options_(options), index_(index) {}

  Declaration& may_change_on_resume();
  // An older name, which recipes, flags and saved configurations may still use instead.
  Declaration& formerly(const std::string& name);
  // A second key of an option in a section, as those of the section "" have them: --device for --training.device.
  Declaration& also(const char* key);
  // What help shows for its value: FILE, DIR.
  Declaration& shows(const char* kind);
  Declaration& letter(char c);
  // The value in effect for a configuration that was saved before the option existed.
  Declaration& historical_default(OptionValue value);

 private:
  Option& option() { return options_.options_[index_]; }

  Options& options_;
  size_t index_;
};

// Where options are declared.
class Section {
 public:
  Section(Options& options, std::string name) : options_(options), name_(std::move(name)) {}

  // Applies to every option that is added from here on.
  Section& may_change_on_resume();

  Declaration add(const char* name, bool& variable, const char* help);
  Declaration add(const char* name, int64_t& variable, const char* help, Range range = any_number());
  Declaration add(const char* name, double& variable, const char* help, Range range = any_number());
  // A whole number, or a word for a value outside the range: {"auto", 0}.
  Declaration add(const char* name, int64_t& variable, const char* help, Range range,
                  std::pair<const char*, int64_t> word);
  Declaration add(const char* name, std::string& variable, const char* help);
  Declaration add(const char* name, std::string& variable, const char* help, const TextRule& rule);
  Declaration add(const char* name, std::vector<std::string>& variable, const char* help);
  // Recipes and configurations may also have a list of numbers as strings, and a single number for a list of one.
  Declaration add(const char* name, std::vector<double>& variable, const char* help,
                  Range each = any_number());
  Declaration add(const char* name, std::vector<int64_t>& variable, const char* help,
                  Range each = any_number());

  template <typename Enum>
  using Names = std::vector<std::pair<std::string, Enum>>;

  template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
  Declaration add(const char* name, Enum& variable, const char* help,
                  Names<std::type_identity_t<Enum>> names) {
    std::vector<std::string> texts;
    for (const auto& [text, value] : names) texts.push_back(text);
    const auto get = [&variable, names]() -> OptionValue {
      for (const auto& [text, value] : names) {
        if (value == variable) return text;
      }
      return std::string("unnamed");  // which set() refuses
    };
    const auto set = [&variable, names](const OptionValue& given) {
      for (const auto& [text, value] : names) {
        if (given != OptionValue(text)) continue;
        variable = value;
        return true;
      }
      return false;
    };
    return add_choice(name, help, texts, get, set);
  }

 private:
  Declaration add_choice(const char* name, const char* help, const std::vector<std::string>& texts,
                         std::function<OptionValue()> get, std::function<bool(const OptionValue&)> set);
  template <typename Number>
  Declaration add_numbers(const char* name, std::vector<Number>& variable, const char* help, Range each);
  Declaration add_option(Option option);

  Options& options_;
  std::string name_;
  bool may_change_on_resume_ = false;
};

}  // namespace dragoman::internal
