#include "convert/torch/pickle_value.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/quotes.h"

namespace dragoman::internal {
namespace {

template <class T>
std::optional<T> copy_of(const T* value) {
  return value ? std::optional<T>(*value) : std::nullopt;
}

const PickleValue* find_among(std::span<const PickleEntries::value_type> entries, std::string_view key) {
  const auto found =
      std::find_if(entries.rbegin(), entries.rend(), [&](const auto& e) { return e.first->text() == key; });
  return found == entries.rend() ? nullptr : found->second;
}

}  // namespace

const PickleObject* PickleValue::object() const {
  const auto* const object = as<std::unique_ptr<PickleObject>>();
  return object ? object->get() : nullptr;
}

std::optional<std::string_view> PickleValue::text() const { return copy_of(as<std::string_view>()); }
std::optional<bool> PickleValue::boolean() const { return copy_of(as<bool>()); }
std::optional<int64_t> PickleValue::integer() const { return copy_of(as<int64_t>()); }

std::optional<double> PickleValue::real() const {
  if (const auto* const value = as<int64_t>()) return static_cast<double>(*value);
  return copy_of(as<double>());
}

std::span<const PickleValue* const> PickleValue::items() const {
  if (const auto* const list = as<PickleList>()) return list->items;
  if (const auto* const tuple = as<PickleTuple>()) return tuple->items;
  if (object()) return object()->items;
  return {};
}

std::span<const PickleEntries::value_type> PickleValue::entries() const {
  if (const auto* const dict = as<PickleDict>()) return dict->entries;
  if (object()) return object()->entries;
  return {};
}

const PickleValue* PickleValue::find(std::string_view key) const {
  const PickleValue* const found = find_among(entries(), key);
  if (found || !object() || !object()->state) return found;
  return find_among(object()->state->entries(), key);
}

std::string PickleValue::described() const {
  // In the order of the variant.
  constexpr std::array names = {"None",   "a boolean", "an integer", "a number", "a string",  "bytes",
                                "a list", "a tuple",   "a dict",     "",         "a storage", "an object"};
  if (const auto* const global = as<PickleGlobal>())
    return shortened(fmt::format("{}.{}", global->module, global->name));
  if (object() && object()->callable->as<PickleGlobal>()) return object()->callable->described();
  return names.at(contents.index());
}

bool PickleObject::is(std::string_view module, std::string_view name) const {
  const auto* const global = callable->as<PickleGlobal>();
  return global && global->module == module && global->name == name;
}

}  // namespace dragoman::internal
