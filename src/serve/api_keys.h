// ApiKeys: who may use the server. A line of the file is a name and the salted hash of its key:
//
//   # made by: dragoman serve --new-key alice
//   alice 5f2a...c1 9b0e...77
//
// Keys are 32 random bytes, so that one round of SHA-256 keeps them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

class ApiKeys {
 public:
  explicit ApiKeys(std::string path);  // empty: everyone may

  bool needed() const { return !path_.empty(); }
  // The name of the key's owner. Takes as long for a wrong key as for any other.
  std::optional<std::string> owner(std::string_view key) const;
  // Reads the file again. If it is invalid, throws and keeps the present keys.
  void reload();

 private:
  struct Entry {
    std::string name, salt, hash;
  };
  using Entries = std::vector<Entry>;
  static Entries read(const std::string& path);

  const std::string path_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Entries> entries_;
};

struct NewKey {
  std::string key, line;  // what its owner gets, and what the file gets
};
NewKey new_api_key(const std::string& name);

}  // namespace dragoman::internal
