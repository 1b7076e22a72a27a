#include "serve/served_languages.h"

#include "serve/languages.h"

namespace dragoman::internal {

ServedLanguages::ServedLanguages(const std::vector<ServedPair>& pairs) {
  for (const ServedPair& pair : pairs) {
    all_.insert({pair.from, pair.to});
    targets_.insert(pair.to);
    targets_of_[pair.from].insert(pair.to);
  }
}

std::optional<std::string> ServedLanguages::find(const std::set<std::string>& codes,
                                                 const std::string& written) {
  const std::string code = language_code(written);
  for (const std::string& known : {code, without_region(code)})
    if (codes.contains(known)) return known;
  return std::nullopt;
}

std::optional<std::string> ServedLanguages::source(const std::string& written) const {
  const auto code = find(all_, written);
  return code && targets_of_.contains(*code) ? code : std::nullopt;
}

bool ServedLanguages::has_pair(const std::string& from, const std::string& to) const {
  const auto targets = targets_of_.find(from);
  return from == to || (targets != targets_of_.end() && targets->second.contains(to));
}

}  // namespace dragoman::internal
