#include "serve/models/served_languages.h"

#include "serve/models/languages.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

// The one code that is this language as it is written in a country.
std::optional<std::string> only_region_of(const std::string& code, const std::set<std::string>& codes) {
  std::optional<std::string> only;
  for (auto i = codes.upper_bound(code); i != codes.end() && i->starts_with(code + "-"); ++i) {
    if (without_region(*i) != code) continue;
    if (only) return std::nullopt;
    only = *i;
  }
  return only;
}

}  // namespace

std::shared_ptr<const ServedLanguages> Translations::languages() const {
  return std::make_shared<const ServedLanguages>(pairs());
}

ServedLanguages::ServedLanguages(const std::vector<ServedPair>& pairs) {
  for (const ServedPair& pair : pairs) {
    all_.insert({pair.from, pair.to});
    sources_.insert(pair.from);
    targets_.insert(pair.to);
    targets_of_[pair.from].insert(pair.to);
  }
}

std::optional<std::string> ServedLanguages::find(const std::set<std::string>& codes,
                                                 const std::string& written) {
  const std::string code = language_code(written);
  for (const std::string& known : {code, without_region(code)})
    if (codes.contains(known)) return known;
  return only_region_of(code, codes);
}

std::optional<std::string> ServedLanguages::source(const std::string& written) const {
  return find(sources_, written);
}

bool ServedLanguages::has_pair(const std::string& from, const std::string& to) const {
  const auto targets = targets_of_.find(from);
  return from == to || (targets != targets_of_.end() && targets->second.contains(to));
}

}  // namespace dragoman::internal
