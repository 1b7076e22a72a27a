// The options of the model that a PyTorch checkpoint stores beside its tensors: attributes of an argparse.Namespace, or
// keys of dicts. Errors start with the file's path and name the key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convert/torch/pickle_value.h"

namespace dragoman::internal {

class TorchOptions {
 public:
  // The first place that has a key counts. Null places are ignored. The pickle must outlive it.
  TorchOptions(std::string path, std::vector<const PickleValue*> places);

  // Null if no place has it, or if it is None.
  const PickleValue* find(const char* key) const;

  // `otherwise` where the key has no value. Numbers may be true or false, as old programs had them, and the other way
  // round.
  int64_t integer(const char* key, std::optional<int64_t> otherwise = {}) const;
  double number(const char* key, double otherwise) const;
  bool flag(const char* key, bool otherwise = false) const;
  std::string text(const char* key, const std::string& otherwise) const;

  // Throws an Error unless the key has this value, or none.
  void require(const char* key, bool supported) const;
  void require(const char* key, const std::string& supported) const;
  // Throws an Error that the key's value is not supported; it names the type if the value has no short text.
  [[noreturn]] void refuse(const char* key) const;

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* key, const char* expected) const;

  std::string path_;
  std::vector<const PickleValue*> places_;
};

}  // namespace dragoman::internal
