// The languages that a server translates between, as its APIs list them and check what clients ask for.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "serve/translations.h"

namespace dragoman::internal {

class ServedLanguages {
 public:
  explicit ServedLanguages(const std::vector<ServedPair>& pairs);

  const std::set<std::string>& all() const { return all_; }
  const std::set<std::string>& targets() const { return targets_; }
  const std::map<std::string, std::set<std::string>>& targets_of() const {
    return targets_of_;
  }  // of each source

  // The code among these that is meant: "pt" for "PT-BR" where there is no Brazilian one, and "pt-BR" for "PT" where
  // that is the only Portuguese.
  static std::optional<std::string> find(const std::set<std::string>& codes, const std::string& written);
  std::optional<std::string> source(const std::string& written) const;
  bool has_pair(const std::string& from, const std::string& to) const;

 private:
  std::set<std::string> all_, sources_, targets_;
  std::map<std::string, std::set<std::string>> targets_of_;
};

}  // namespace dragoman::internal
