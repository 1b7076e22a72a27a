#include "serve/deepl/glossary_store.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/chrono.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "serve/route.h"
#include "serve/secrets.h"

namespace dragoman::internal {
namespace {

size_t bytes_of(const GlossaryEntries& entries) {
  size_t terms = 0;
  for (const auto& entry : entries) terms += entry.source.size() + entry.target.size();
  return entries.size() * GlossaryStore::bytes_of_entry + 6 * terms;
}

// In the form of a UUID, as clients know it.
std::string new_id() {
  const std::string id = random_hex(16);
  return fmt::format("{}-{}-{}-{}-{}", id.substr(0, 8), id.substr(8, 4), id.substr(12, 4), id.substr(16, 4),
                     id.substr(20));
}

// With milliseconds, which DeepL's own client insists on.
std::string now() {
  const auto time = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), (time - seconds).count());
}

std::string as_file(const StoredGlossary& glossary) {
  nlohmann::ordered_json json = {{"name", glossary.name},   {"from", glossary.from},
                                 {"to", glossary.to},       {"created", glossary.created},
                                 {"owner", glossary.owner}, {"entries", nlohmann::ordered_json::array()}};
  for (const auto& entry : glossary.entries) json["entries"].push_back({entry.source, entry.target});
  return json.dump(1) + "\n";
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
                               .from = json.at("from"),
                               .to = json.at("to"),
                               .created = json.at("created"),
                               .owner = json.value("owner", ""),
                               .entries = {}};
    for (const nlohmann::json& entry : json.at("entries"))
      glossary.entries.push_back({entry.at(0), entry.at(1)});
    glossary.glossary = std::make_shared<const dragoman::Glossary>(glossary.entries);
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
    bytes_ += bytes_of(glossary->entries);
    if (glossaries_.size() == max_glossaries || bytes_ > max_bytes)
      throw Error("{}: has more than {} glossaries, or take more than {} bytes of memory: move some away",
                  folder_, max_glossaries, max_bytes);
    glossaries_[glossary->id] = std::move(glossary);
  }
}

std::shared_ptr<const StoredGlossary> GlossaryStore::add(StoredGlossary given) {
  try {
    given.glossary = std::make_shared<const dragoman::Glossary>(given.entries);
  } catch (const dragoman::Error& error) {
    throw ServeError(400, error.what());
  }
  given.id = new_id();
  given.created = now();
  const auto glossary = std::make_shared<const StoredGlossary>(std::move(given));
  const size_t bytes = bytes_of(glossary->entries);
  reserve(bytes);
  try {
    if (!folder_.empty()) write_file(path(glossary->id), {as_file(*glossary)});
  } catch (...) {
    release(bytes);
    throw;
  }
  const std::lock_guard lock(mutex_);
  --reserved_;
  glossaries_[glossary->id] = glossary;
  return glossary;
}

void GlossaryStore::reserve(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (glossaries_.size() + reserved_ >= max_glossaries || bytes > max_bytes - bytes_)
    throw ServeError(456, "the server's glossary limit is reached: delete some");
  ++reserved_;
  bytes_ += bytes;
}

void GlossaryStore::release(size_t bytes) {
  const std::lock_guard lock(mutex_);
  --reserved_;
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
  bytes_ -= bytes_of(found->second->entries);
  glossaries_.erase(found);
  return true;
}

}  // namespace dragoman::internal
