#include "serve/deepl/glossary_store.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "serve/json_log.h"
#include "serve/models/served_languages.h"
#include "serve/route.h"
#include "serve/secrets.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

size_t bytes_of(const StoredGlossary& stored) {
  size_t bytes = 0;
  for (const GlossaryDictionary& dictionary : stored.dictionaries)
    for (const auto& entry : dictionary.entries)
      bytes += GlossaryStore::bytes_of_entry + 6 * (entry.source.size() + entry.target.size());
  return bytes;
}

// In the form of a UUID, as clients know it.
std::string new_id() {
  const std::string id = random_hex(16);
  return fmt::format("{}-{}-{}-{}-{}", id.substr(0, 8), id.substr(8, 4), id.substr(12, 4), id.substr(16, 4),
                     id.substr(20));
}

std::string as_file(const StoredGlossary& glossary) {
  nlohmann::ordered_json json = {{"name", glossary.name},
                                 {"created", glossary.created},
                                 {"owner", glossary.owner},
                                 {"dictionaries", nlohmann::ordered_json::array()}};
  for (const GlossaryDictionary& dictionary : glossary.dictionaries) {
    nlohmann::ordered_json entries = nlohmann::ordered_json::array();
    for (const auto& entry : dictionary.entries) entries.push_back({entry.source, entry.target});
    json["dictionaries"].push_back(
        {{"from", dictionary.from}, {"to", dictionary.to}, {"entries", std::move(entries)}});
  }
  return json_text(json, 1) + "\n";
}

GlossaryDictionary read_dictionary(const nlohmann::json& json) {
  GlossaryDictionary dictionary = {.from = json.at("from"), .to = json.at("to"), .entries = {}};
  for (const nlohmann::json& entry : json.at("entries"))
    dictionary.entries.push_back({entry.at(0), entry.at(1)});
  return dictionary;
}

void make_glossaries(StoredGlossary& stored) {
  for (GlossaryDictionary& dictionary : stored.dictionaries)
    if (!dictionary.glossary)
      dictionary.glossary = std::make_shared<const dragoman::Glossary>(dictionary.entries);
}

bool may_use(const std::string& owner, const StoredGlossary& glossary) {
  return glossary.owner.empty() || glossary.owner == owner;
}

StoredGlossary read(const std::filesystem::path& path) {
  try {
    if (std::filesystem::file_size(path) > GlossaryStore::max_bytes)
      throw Error("{}: larger than the limit for all glossaries together", path.string());
    const nlohmann::json json = parse_json(read_file(path.string()));
    StoredGlossary glossary = {.id = path.stem().string(),
                               .name = json.at("name"),
                               .created = json.at("created"),
                               .owner = json.value("owner", ""),
                               .dictionaries = {}};
    if (json.contains("dictionaries")) {
      for (const nlohmann::json& one : json["dictionaries"])
        glossary.dictionaries.push_back(read_dictionary(one));
    } else {
      glossary.dictionaries.push_back(read_dictionary(json));  // of earlier versions
    }
    make_glossaries(glossary);
    return glossary;
  } catch (const nlohmann::json::exception&) {
    throw Error("{}: not a glossary written by this server: move it away", path.string());
  }
}

}  // namespace

GlossaryStore::GlossaryStore(std::string folder) : folder_(std::move(folder)) {
  if (!folder_.empty()) read_folder();
}

std::string GlossaryStore::path(const std::string& id) const {
  return fmt::format("{}/{}.json", folder_, id);
}

void GlossaryStore::read_folder() {
  make_folder(folder_);
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    if (file.path().extension() != ".json") continue;
    auto glossary = std::make_shared<const StoredGlossary>(read(file.path()));
    bytes_ += bytes_of(*glossary);
    if (glossaries_.size() == max_glossaries || bytes_ > max_bytes)
      throw Error("{}: has more than {} glossaries, or take more than {} bytes of memory: move some away",
                  folder_, max_glossaries, max_bytes);
    glossaries_[glossary->id] = std::move(glossary);
  }
}

const GlossaryDictionary* StoredGlossary::find(const std::string& from, const std::string& to) const {
  const auto fits = [](const std::string& of_glossary, const std::string& language) {
    return ServedLanguages::find({of_glossary}, language).has_value();
  };
  const GlossaryDictionary* fitting = nullptr;
  for (const GlossaryDictionary& dictionary : dictionaries) {
    if (dictionary.from == language_code(from) && dictionary.to == language_code(to)) return &dictionary;
    if (!fitting && fits(dictionary.from, from) && fits(dictionary.to, to)) fitting = &dictionary;
  }
  return fitting;
}

std::shared_ptr<const StoredGlossary> GlossaryStore::add(StoredGlossary given) {
  given.id = new_id();
  given.created = time_now();  // with milliseconds, which DeepL's own client insists on
  return keep(std::move(given), true);
}

std::shared_ptr<const StoredGlossary> GlossaryStore::change(
    const std::string& id, const std::string& owner, const std::function<void(StoredGlossary&)>& edit) {
  const std::lock_guard one_after_the_other(changing_);
  const auto found = find(id, owner);
  if (!found) throw ServeError(404, "Glossary not found");
  StoredGlossary glossary = *found;
  edit(glossary);
  return keep(std::move(glossary), false);
}

std::shared_ptr<const StoredGlossary> GlossaryStore::keep(StoredGlossary given, bool is_new) {
  try {
    make_glossaries(given);
  } catch (const dragoman::Error& error) {
    throw ServeError(400, error.what());
  }
  const auto glossary = std::make_shared<const StoredGlossary>(std::move(given));
  const size_t bytes = bytes_of(*glossary);
  reserve(bytes, is_new);
  try {
    if (!folder_.empty()) write_file(path(glossary->id), {as_file(*glossary)});
  } catch (...) {
    release(bytes, is_new);
    throw;
  }
  const std::lock_guard lock(mutex_);
  if (is_new) {
    --reserved_;
  } else {
    const auto former = glossaries_.find(glossary->id);
    if (former == glossaries_.end()) {
      bytes_ -= bytes;
      if (!folder_.empty()) std::filesystem::remove(path(glossary->id));
      throw ServeError(404, "Glossary not found");
    }
    bytes_ -= bytes_of(*former->second);
  }
  glossaries_[glossary->id] = glossary;
  return glossary;
}

void GlossaryStore::reserve(size_t bytes, bool is_new) {
  const std::lock_guard lock(mutex_);
  if ((is_new && glossaries_.size() + reserved_ >= max_glossaries) || bytes > max_bytes - bytes_)
    throw ServeError(456, "the server's glossary limit is reached: delete some");
  reserved_ += is_new ? 1 : 0;
  bytes_ += bytes;
}

void GlossaryStore::release(size_t bytes, bool is_new) {
  const std::lock_guard lock(mutex_);
  reserved_ -= is_new ? 1 : 0;
  bytes_ -= bytes;
}

std::shared_ptr<const StoredGlossary> GlossaryStore::find(const std::string& id,
                                                          const std::string& owner) const {
  const std::lock_guard lock(mutex_);
  const auto found = glossaries_.find(id);
  return found != glossaries_.end() && may_use(owner, *found->second) ? found->second : nullptr;
}

std::vector<std::shared_ptr<const StoredGlossary>> GlossaryStore::all(const std::string& owner) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const StoredGlossary>> all;
  for (const auto& [id, glossary] : glossaries_)
    if (may_use(owner, *glossary)) all.push_back(glossary);
  return all;
}

bool GlossaryStore::remove(const std::string& id, const std::string& owner) {
  const std::lock_guard lock(mutex_);
  const auto found = glossaries_.find(id);
  if (found == glossaries_.end() || !may_use(owner, *found->second)) return false;
  if (!folder_.empty()) std::filesystem::remove(path(id));
  bytes_ -= bytes_of(*found->second);
  glossaries_.erase(found);
  return true;
}

}  // namespace dragoman::internal
