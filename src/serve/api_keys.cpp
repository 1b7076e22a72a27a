#include "serve/api_keys.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/quotes.h"
#include "serve/secrets.h"

namespace dragoman::internal {
namespace {

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c != 0x7f; });
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != line.npos;) {
    const size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

constexpr size_t salt_digits = 16, hash_digits = 64, key_digits = 64;

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(hex_digit(hex[i]) * 16 + hex_digit(hex[i + 1]));
  return bytes;
}

}  // namespace

ApiKeys::ApiKeys(std::string path) : path_(std::move(path)), entries_(std::make_shared<Entries>()) {
  reload();
}

ApiKeys::Entries ApiKeys::read(const std::string& path) {
  Entries entries;
  std::set<std::string> names;
  LineReader reader(path);
  for (std::string_view line; reader.next(line);) {
    const auto words = words_of(line);
    if (words.empty() || words[0].front() == '#') continue;
    const bool is_entry = words.size() == 3 && is_name(words[0]) && is_hex(words[2], hash_digits);
    if (!is_entry || !(is_hex(words[1], salt_digits) || is_hex(words[1], 2 * salt_digits)))
      throw Error(
          "{}:{}: expected a name, a salt and a hash: dragoman serve --new-key NAME prints such a line", path,
          reader.number());
    Entry entry = {std::string(words[0]), std::string(words[1]), bytes_of(words[2])};
    if (!names.insert(entry.name).second)
      throw Error("{}:{}: the name {} is already used above: names must be unique", path, reader.number(),
                  in_quotes(words[0]));
    if (entry.salt.size() != salt_digits) {
      entries.others.push_back(std::move(entry));
    } else if (!entries.by_salt.insert({entry.salt, entry}).second) {
      throw Error("{}:{}: has the salt of a key above: make a new key", path, reader.number());
    }
  }
  if (names.empty())
    throw Error("{} has no API key: dragoman serve --new-key NAME prints a line for it", path);
  return entries;
}

void ApiKeys::reload() {
  if (!needed()) return;
  auto entries = std::make_shared<const Entries>(read(path_));
  const std::lock_guard lock(mutex_);
  entries_ = std::move(entries);
}

std::optional<std::string> ApiKeys::owner(std::string_view key) const {
  if (key.size() > 256) return std::nullopt;
  const auto entries = [&] {
    const std::lock_guard lock(mutex_);
    return entries_;
  }();
  std::optional<std::string> name;
  const std::string_view salt = key.substr(0, salt_digits);
  const auto found = entries->by_salt.find(salt);
  if (found != entries->by_salt.end() && same_secret(salted_hash(salt, key), found->second.hash))
    name = found->second.name;
  for (const Entry& entry : entries->others) {
    if (same_secret(salted_hash(entry.salt, key), entry.hash)) name = entry.name;
  }
  return name;
}

NewKey new_api_key(const std::string& name) {
  if (!is_name(name) || name.front() == '#')
    throw UsageError("{} is not a name for an API key: use 1 to 64 letters and digits", in_quotes(name));
  const std::string key = random_hex(key_digits / 2), salt = key.substr(0, salt_digits);
  return {.key = key, .line = fmt::format("{} {} {}", name, salt, in_hex(salted_hash(salt, key)))};
}

}  // namespace dragoman::internal
