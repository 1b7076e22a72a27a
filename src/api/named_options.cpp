#include "api/named_options.h"

namespace dragoman::internal {
namespace {

dragoman::OptionValue to_public(const OptionValue& value) {
  return std::visit([](const auto& v) { return dragoman::OptionValue(v); }, value);
}

const char* type_name(const OptionValue& value) {
  constexpr const char* names[] = {"boolean", "integer", "number", "string", "strings", "numbers"};
  return names[value.index()];
}

}  // namespace

void set_options(Options& declared, const dragoman::Options& given) {
  for (const auto& [name, value] : given)
    declared.set(name, std::visit([](const auto& v) { return OptionValue(v); }, value));
}

dragoman::Options given_options(const Options& declared) {
  dragoman::Options given;
  for (const Option& option : declared.all()) {
    if (!option.origin.empty()) given.emplace_back(option.key(), to_public(option.get()));
  }
  return given;
}

std::vector<OptionInfo> describe_options(const Options& declared) {
  std::vector<OptionInfo> all;
  for (const Option& option : declared.all()) {
    all.push_back({.name = option.key(),
                   .help = option.help,
                   .type = type_name(option.default_value),
                   .limits = option.limits.empty() ? option.kind : option.limits,
                   .default_value = to_public(option.default_value)});
  }
  return all;
}

}  // namespace dragoman::internal
