#include "hub/families.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/quotes.h"
#include "hub/catalogue.h"

namespace dragoman::internal {
namespace {

constexpr uint64_t max_index_bytes = 1 << 26;

constexpr std::array all_families = {
    Family{"huggingface", "OWNER/NAME, opus-mt-SOURCE-TARGET",
           "any model of the Hugging Face hub that `import` reads", download_huggingface,
           names_of_huggingface},
    Family{"argos", "argos SOURCE TARGET", "a package of Argos Translate", download_argos, names_of_argos},
    Family{"firefox", "firefox SOURCE TARGET", "a small, fast model of Firefox Translations",
           download_firefox, names_of_firefox},
};

// Of a file, an owner, a model or a language: no separators, and nothing with a meaning in a shell or a URL.
bool is_plain_name(std::string_view name) {
  const auto allowed = [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= 200 && name[0] != '.' && std::ranges::all_of(name, allowed);
}

[[noreturn]] void refuse_name(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  throw UsageError(
      "{} is not a model name: use opus-mt-SOURCE-TARGET, OWNER/NAME, argos SOURCE TARGET or "
      "firefox SOURCE TARGET; see dragoman get --list",
      in_quotes(text));
}

std::string full_name(const std::string& name) {
  const auto& aliases = catalogue().huggingface.aliases;
  if (const auto found = aliases.find(name); found != aliases.end()) return found->second;
  for (const auto& [beginning, meaning] : catalogue().huggingface.short_names)
    if (name.starts_with(beginning)) return meaning + name.substr(beginning.size());
  return name;
}

}  // namespace

std::span<const Family> families() { return all_families; }

PublishedModel published_model(const std::vector<std::string>& words) {
  if (!std::ranges::all_of(words, [](const auto& word) { return word.size() <= 200; })) refuse_name(words);
  if (words.size() == 3) {
    for (const Family& family : families()) {
      if (family.name != words[0] || words[0] == "huggingface") continue;
      if (is_plain_name(words[1]) && is_plain_name(words[2])) return {&family, "", words[1], words[2]};
    }
    refuse_name(words);
  }
  if (words.size() != 1) refuse_name(words);
  const std::string name = full_name(words[0]);
  const size_t slash = name.find('/');
  if (slash == name.npos || !is_plain_name(name.substr(0, slash)) || !is_plain_name(name.substr(slash + 1)))
    refuse_name(words);
  return {&all_families[0], name, "", ""};
}

std::string PublishedModel::folder() const {
  if (name.empty()) return fmt::format("{}-{}-{}", family->name, from, to);
  return name.substr(name.find('/') + 1);
}

std::string PublishedModel::place() const {
  return std::string(family->name) + "/" + (name.empty() ? from + "-" + to : name);
}

Hub::Hub(HubOptions options) : options_(std::move(options)), downloader_(options_.policy) {
  std::string& mirror = options_.mirror;
  if (!mirror.empty() && !mirror.starts_with("https://") && !mirror.starts_with("http://"))
    throw UsageError("--hub must begin with https:// or http://, but is {}", in_quotes(mirror));
  while (mirror.ends_with('/')) mirror.pop_back();
}

std::string Hub::address(std::string pattern,
                         const std::vector<std::pair<std::string_view, std::string>>& values) const {
  for (const auto& [name, value] : values) {
    const std::string mark = fmt::format("{{{}}}", name);
    if (const size_t at = pattern.find(mark); at != pattern.npos) pattern.replace(at, mark.size(), value);
  }
  if (options_.mirror.empty()) return pattern;
  const size_t path = pattern.find('/', std::string_view("https://").size());
  return options_.mirror + (path == pattern.npos ? "/" : pattern.substr(path));
}

void Hub::require(const FileToGet& file) {
  switch (downloader_.get(file)) {
    case DownloadResult::file:
      return;
    case DownloadResult::missing:
      throw Error("cannot download {}: the server does not have it", file.url);
    case DownloadResult::denied:
      throw Error("cannot download {}: the server refuses access", file.url);
  }
}

nlohmann::json Hub::index(const std::string& address, const std::string& path) {
  require({.url = address, .path = path, .max_bytes = max_index_bytes});
  try {
    return parse_json(read_file(path));
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} is not a valid model index: {}", address, reason_of(error));
  }
}

std::string checked_name(const std::string& path, const std::string& index) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const bool climbs = path.find("..") != path.npos || path.find('\\') != path.npos;
  if (!climbs && is_plain_name(name)) return name;
  throw Error("{} contains an invalid file name: {}", index, in_quotes(path));
}

}  // namespace dragoman::internal
