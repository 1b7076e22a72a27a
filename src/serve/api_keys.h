// ApiKeys: who may use the server. A line of the file is a name, the salt of its key and the salted hash:
//
//   # made by: dragoman serve --new-key alice
//   alice 5f2a...c1 9b0e...77
//
// Keys are 32 random bytes, so that one round of SHA-256 keeps them. A key begins with its salt, which finds its line
// however many there are. Keys of earlier versions do not: their salts are twice as long, and each is tried.
#pragma once

#include <functional>
#include <map>
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
  // The name of the key's owner. How long it takes does not depend on how much of a wrong key is right.
  std::optional<std::string> owner(std::string_view key) const;
  // Reads the file again. If it is invalid, throws and keeps the present keys.
  void reload();

 private:
  struct Entry {
    std::string name, salt, hash;  // the hash: as bytes
  };
  struct Entries {
    std::map<std::string, Entry, std::less<>> by_salt;
    std::vector<Entry> others;
  };
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
