#include "serve/v1/options.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dragoman/translator.h"

namespace dragoman::internal {
namespace {

using Schema = nlohmann::ordered_json;

constexpr int64_t largest_exact = (int64_t{1} << 53) - 1;  // integer of a JavaScript number

// What a body has under other names, or what is not for clients: `always-allow` names a file of the server.
bool is_offered(const OptionInfo& option) {
  return option.name != "from" && option.name != "to" && option.name != "always-allow";
}

// "at least 1" sets minimum; takes it from the text's front.
bool take_limit(std::string_view& text, std::string_view words, const char* key, bool whole, Schema& schema) {
  if (!text.starts_with(words)) return false;
  text.remove_prefix(words.size());
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  CHECK(error == std::errc(), "no number in a limit: {}", text);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (whole) {
    schema[key] = static_cast<int64_t>(number);
  } else {
    schema[key] = number;
  }
  return true;
}

// What Range::text writes: "at least 0 and below 1", "1 to 1000".
void add_limits(std::string_view text, bool whole, Schema& schema) {
  if (text.empty() || text == "N" || text == "X") return;
  const bool low = take_limit(text, "at least ", "minimum", whole, schema) ||
                   take_limit(text, "above ", "exclusiveMinimum", whole, schema);
  if (low && text.starts_with(" and ")) text.remove_prefix(5);
  const bool high = take_limit(text, "at most ", "maximum", whole, schema) ||
                    take_limit(text, "below ", "exclusiveMaximum", whole, schema);
  if (!low && !high) {
    take_limit(text, "", "minimum", whole, schema);
    take_limit(text, " to ", "maximum", whole, schema);
  }
  CHECK(text.empty(), "limits that have no schema: {}", text);
}

Schema choices_of(std::string_view text) {
  Schema list = Schema::array();
  while (!text.empty()) {
    const size_t end = std::min(text.find('|'), text.size());
    list.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

dragoman::OptionValue value_of(const nlohmann::json& value, const std::string& type) {
  if (type == "boolean") return value.get<bool>();
  if (type == "integer") return static_cast<int64_t>(value.get<double>());
  if (type == "number") return value.get<double>();
  return value.get<std::string>();
}

Schema properties_of(const std::vector<OptionInfo>& options, const ServeLimits& limits) {
  Schema properties = Schema::object();
  for (const OptionInfo& option : options) {
    if (is_offered(option)) properties[option.name] = option_schema(option);
  }
  for (const char* width : {"beam", "nbest"}) properties[width]["maximum"] = limits.beam;
  for (const char* length : {"max-length", "min-length"}) properties[length]["maximum"] = limits.output;
  return properties;
}

}  // namespace

Schema option_schema(const OptionInfo& option) {
  Schema schema = {{"type", option.type}, {"description", option.help}};
  if (option.type == "string" && option.limits.find('|') != option.limits.npos) {
    schema["enum"] = choices_of(option.limits);
  } else if (option.type == "string") {
    schema["maxLength"] = 100;
  } else if (option.type == "integer" || option.type == "number") {
    add_limits(option.limits, option.type == "integer", schema);
    if (option.type == "integer" && !schema.contains("maximum")) schema["maximum"] = largest_exact;
  } else {
    CHECK(option.type == "boolean", "option {} has type {}, for which there is no schema", option.name,
          option.type);
  }
  std::visit([&](const auto& value) { schema["default"] = value; }, option.default_value);
  return schema;
}

Schema option_properties(const ServeLimits& limits) { return properties_of(Translator::options(), limits); }

Schema generation_properties(const ServeLimits& limits) {
  return properties_of(Translator::generation_options(), limits);
}

dragoman::Options options_in(const nlohmann::json& body) {
  static const std::vector<OptionInfo> known = Translator::options();
  dragoman::Options options;
  for (const OptionInfo& option : known) {
    if (is_offered(option) && body.contains(option.name))
      options.emplace_back(option.name, value_of(body[option.name], option.type));
  }
  return options;
}

}  // namespace dragoman::internal
