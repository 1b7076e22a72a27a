// GlossaryStore: the glossaries that clients have made, in memory and, with a folder, in a file each: ID.json.
//
// Those with an owner are for that owner only, the others for everyone. Every member function may be called from any
// thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "serve/deepl/glossary_entries.h"

namespace dragoman::internal {

struct StoredGlossary {
  std::string id, name, from, to;  // languages: codes
  std::string created;             // "2026-01-31T12:00:00.000Z"
  std::string owner;               // the API key's name; empty: nobody
  GlossaryEntries entries;
  std::shared_ptr<const dragoman::Glossary> glossary = {};
};

class GlossaryStore {
 public:
  // Bytes of memory: of each entry six times its terms, which are kept as they are, as entries and as keys of four
  // bytes a character, and what the objects that hold them take.
  static constexpr size_t max_glossaries = 1000, max_bytes = 256 << 20, bytes_of_entry = 350;

  // Reads the folder's glossaries; with an empty path none are kept. Throws an Error where one is damaged.
  explicit GlossaryStore(std::string folder = {});

  // Its id, creation and glossary are made here. Throws a ServeError of status 456, DeepL's for an exhausted quota.
  std::shared_ptr<const StoredGlossary> add(StoredGlossary glossary);
  // Null where there is none.
  std::shared_ptr<const StoredGlossary> find(const std::string& id, const std::string& owner = {}) const;
  std::vector<std::shared_ptr<const StoredGlossary>> all(const std::string& owner = {}) const;
  bool remove(const std::string& id, const std::string& owner = {});  // whether there was one

 private:
  void reserve(size_t bytes);
  void release(size_t bytes);
  std::string path(const std::string& id) const;
  void read_folder();

  const std::string folder_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const StoredGlossary>> glossaries_;
  size_t reserved_ = 0;  // glossaries that are being written
  size_t bytes_ = 0;     // of all, those that are being written among them
};

}  // namespace dragoman::internal
