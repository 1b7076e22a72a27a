#include "hub/catalogue.h"

#include <sstream>

#include "base/error.h"
#include "base/shared_files.h"
#include "base/toml.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view catalogue_file = "hub.toml";

template <typename Type>
Type value_at(const toml::table& table, std::string_view key) {
  const auto value = table[key].value<Type>();
  CHECK(value, "share/{} lacks {}", catalogue_file, key);
  return *value;
}

const toml::table& table_at(const toml::table& table, std::string_view key) {
  const toml::table* inner = table[key].as_table();
  CHECK(inner, "share/{} lacks [{}]", catalogue_file, key);
  return *inner;
}

std::vector<std::string> list_at(const toml::table& table, std::string_view key) {
  std::vector<std::string> list;
  const toml::array* array = table[key].as_array();
  CHECK(array, "share/{} lacks {}", catalogue_file, key);
  for (const toml::node& node : *array) list.push_back(node.value<std::string>().value());
  return list;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> known_models(const toml::table& hub) {
  std::vector<std::string> known;
  for (const auto& [source, targets] : table_at(hub, "opus_mt")) {
    for (const std::string& target : words_of(targets.value<std::string>().value()))
      known.push_back("Helsinki-NLP/opus-mt-" + std::string(source.str()) + "-" + target);
  }
  for (const auto& [owner, names] : table_at(hub, "known")) {
    for (const std::string& name : words_of(names.value<std::string>().value()))
      known.push_back(std::string(owner.str()) + "/" + name);
  }
  return known;
}

Catalogue read_catalogue() {
  const toml::table all =
      parse_toml(std::string(shared_file(catalogue_file)), "share/" + std::string(catalogue_file));
  const toml::table& hub = table_at(all, "huggingface");
  Catalogue c;
  c.huggingface = {.file = value_at<std::string>(hub, "file"),
                   .required = list_at(hub, "required"),
                   .optional = list_at(hub, "optional"),
                   .weights = list_at(hub, "weights"),
                   .short_names = {},
                   .aliases = {},
                   .known = known_models(hub)};
  for (const auto& [name, meaning] : table_at(hub, "short_names"))
    c.huggingface.short_names[std::string(name.str())] = meaning.value<std::string>().value();
  for (const auto& [name, meaning] : table_at(hub, "aliases"))
    c.huggingface.aliases[std::string(name.str())] = meaning.value<std::string>().value();
  c.argos.index = value_at<std::string>(table_at(all, "argos"), "index");
  c.firefox = {.index = value_at<std::string>(table_at(all, "firefox"), "index"),
               .files = value_at<std::string>(table_at(all, "firefox"), "files")};
  return c;
}

}  // namespace

const Catalogue& catalogue() {
  static const Catalogue read = read_catalogue();
  return read;
}

}  // namespace dragoman::internal
