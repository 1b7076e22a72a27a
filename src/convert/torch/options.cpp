#include "convert/torch/options.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/quotes.h"

namespace dragoman::internal {
namespace {

std::string described(const PickleValue& value) {
  if (const auto text = value.text()) return in_quotes(*text);
  if (const auto flag = value.boolean()) return *flag ? "true" : "false";
  if (const auto number = value.real()) return fmt::format("{}", *number);
  return value.described();
}

}  // namespace

TorchOptions::TorchOptions(std::string path, std::vector<const PickleValue*> places)
    : path_(std::move(path)), places_(std::move(places)) {}

const PickleValue* TorchOptions::find(const char* key) const {
  for (const PickleValue* place : places_) {
    const PickleValue* const value = place != nullptr ? place->find(key) : nullptr;
    if (value != nullptr && value->as<std::monostate>() == nullptr) return value;
  }
  return nullptr;
}

int64_t TorchOptions::integer(const char* key, std::optional<int64_t> otherwise) const {
  const PickleValue* const value = find(key);
  if (value == nullptr) {
    if (otherwise) return *otherwise;
    throw Error("{} has no option {}", path_, key);
  }
  if (const auto flag = value->boolean()) return *flag;
  const auto number = value->integer();
  if (!number || *number < INT32_MIN || *number > INT32_MAX) fail(key, "a whole number");
  return *number;
}

double TorchOptions::number(const char* key, double otherwise) const {
  const PickleValue* const value = find(key);
  if (value == nullptr) return otherwise;
  const auto number = value->real();
  if (!number || !std::isfinite(*number)) fail(key, "a number");
  return *number;
}

bool TorchOptions::flag(const char* key, bool otherwise) const {
  const PickleValue* const value = find(key);
  if (value == nullptr) return otherwise;
  if (const auto flag = value->boolean()) return *flag;
  if (const auto number = value->integer()) return *number != 0;
  fail(key, "true or false");
}

std::string TorchOptions::text(const char* key, const std::string& otherwise) const {
  const PickleValue* const value = find(key);
  if (value == nullptr) return otherwise;
  const auto text = value->text();
  if (!text) fail(key, "a string");
  return std::string(*text);
}

void TorchOptions::require(const char* key, bool supported) const {
  if (flag(key, supported) != supported) refuse(key);
}

void TorchOptions::require(const char* key, const std::string& supported) const {
  if (text(key, supported) != supported) refuse(key);
}

void TorchOptions::refuse(const char* key) const {
  const PickleValue* const value = find(key);
  throw Error("{}: {} = {} is not supported", path_, key, value != nullptr ? described(*value) : "nothing");
}

void TorchOptions::fail(const char* key, const char* expected) const {
  throw Error("{}: the option {} must be {}, but is {}", path_, key, expected, described(*find(key)));
}

}  // namespace dragoman::internal
