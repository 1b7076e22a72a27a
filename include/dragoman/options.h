// Options by name, as recipes and the command line have them: {{"beam", 4}, {"length-penalty", 1.0}}.
//
// Names, types, defaults and ranges are those of `dragoman translate --help` for translations and of recipes for
// training ("model.d_model"). An unknown name or a value out of range is an Error that says what is allowed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dragoman {

class OptionValue
    : public std::variant<bool, int64_t, double, std::string, std::vector<std::string>, std::vector<double>> {
 public:
  using variant::variant;
  // What int64_t cannot hold becomes a double, which no option takes for a whole number.
  OptionValue(unsigned long value) : OptionValue(static_cast<unsigned long long>(value)) {}
  OptionValue(unsigned long long value) : variant(static_cast<int64_t>(value)) {
    if (value > INT64_MAX) *this = static_cast<double>(value);
  }
  OptionValue(const char* value) : variant(std::string(value)) {}
  OptionValue(std::string_view value) : variant(std::string(value)) {}
};

using Options = std::vector<std::pair<std::string, OptionValue>>;

// The value that counts, the last one of that name; null where the option is not given.
inline const OptionValue* find_option(const Options& options, std::string_view name) {
  const OptionValue* found = nullptr;
  for (const auto& [key, value] : options)
    if (key == name) found = &value;
  return found;
}

// A description of an option, for building forms, schemas or bindings.
struct OptionInfo {
  std::string name, help;
  std::string type;    // "boolean", "integer", "number", "string", "strings", "numbers"
  std::string limits;  // "at least 1", or the allowed values: "gnmt|plain"; may be empty
  OptionValue default_value;
};

}  // namespace dragoman
