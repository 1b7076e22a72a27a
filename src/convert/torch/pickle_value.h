// The contents of a Python pickle as data: the values, and for objects the names of what Python would call, with the
// arguments. Values point to each other, also in cycles, and belong to the Pickle that they were read into.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dragoman::internal {

struct PickleValue;
struct PickleObject;
using PickleItems = std::vector<const PickleValue*>;
using PickleEntries =
    std::vector<std::pair<const PickleValue*, const PickleValue*>>;  // in order; the last of a key counts

// bytes, and integers that 64 bits do not hold: little-endian.
struct PickleBytes {
  std::string_view bytes;
};
// Sets too.
struct PickleList {
  PickleItems items;
};
struct PickleTuple {
  PickleItems items;
};
// OrderedDict too.
struct PickleDict {
  PickleEntries entries;
};
// A class or function, by its name.
struct PickleGlobal {
  std::string_view module, name;
};
// A value that the pickle names, and keeps outside: a tensor's storage.
struct PicklePersistent {
  const PickleValue* id;
};

struct PickleValue {
  std::variant<std::monostate, bool, int64_t, double, std::string_view, PickleBytes, PickleList, PickleTuple,
               PickleDict, PickleGlobal, PicklePersistent, std::unique_ptr<PickleObject>>
      contents;  // monostate: None

  // Of this type, or null.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&contents);
  }
  const PickleObject* object() const;

  // Nothing for values of other types.
  std::optional<std::string_view> text() const;
  std::optional<bool> boolean() const;
  std::optional<int64_t> integer() const;
  std::optional<double> real() const;  // of integers too

  // Of a list, a tuple, or an object that is a list; empty for other values.
  std::span<const PickleValue* const> items() const;
  // Of a dict, or an object that is a dict; empty for other values.
  std::span<const PickleEntries::value_type> entries() const;
  // The value at this key of a dict, or the attribute of an object; null if there is none.
  const PickleValue* find(std::string_view key) const;

  // "a dict", "argparse.Namespace"
  std::string described() const;
};

// What calling `callable` with `arguments` would make, and what Python would then do with it.
struct PickleObject {
  const PickleValue* callable = nullptr;
  std::span<const PickleValue* const> arguments;
  PickleItems items;                   // appended
  PickleEntries entries;               // set
  const PickleValue* state = nullptr;  // mostly a dict of the attributes; null if there is none

  bool is(std::string_view module, std::string_view name) const;  // the callable
};

struct Pickle {
  std::deque<PickleValue> values;
  const PickleValue* root = nullptr;
};

}  // namespace dragoman::internal
