// GlossaryStore: the glossaries that clients have made, in memory and, with a folder, in a file each: ID.json.
//
// Those with an owner are for that owner only, the others for everyone. Every member function may be called from any
// thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "serve/deepl/glossary_entries.h"

namespace dragoman::internal {

// The entries for a pair of languages.
struct GlossaryDictionary {
  std::string from, to;  // codes
  GlossaryEntries entries;
  std::shared_ptr<const dragoman::Glossary> glossary = {};  // made by the store
};

struct StoredGlossary {
  std::string id, name;
  std::string created;                           // "2026-01-31T12:00:00.000Z"
  std::string owner;                             // the API key's name; empty: nobody
  std::vector<GlossaryDictionary> dictionaries;  // each for other languages; of most glossaries one

  // Of these languages, which may be written as clients do; null: there is none.
  const GlossaryDictionary* find(const std::string& from, const std::string& to) const;
};

class GlossaryStore {
 public:
  // Bytes of memory: of each entry six times its terms, which are kept as they are, as entries and as keys of four
  // bytes a character, and what the objects that hold them take.
  static constexpr size_t max_glossaries = 1000, max_bytes = 256 << 20, bytes_of_entry = 350;

  // Reads the folder's glossaries; with an empty path none are kept. Throws an Error where one is damaged.
  explicit GlossaryStore(std::string folder = {});

  // Its id and creation are made here. Throws a ServeError of status 456, DeepL's for an exhausted quota.
  std::shared_ptr<const StoredGlossary> add(StoredGlossary glossary);
  // Of status 404 where there is none. Changes come one after the other: each edits what the one before has left.
  std::shared_ptr<const StoredGlossary> change(const std::string& id, const std::string& owner,
                                               const std::function<void(StoredGlossary&)>& edit);
  // Null where there is none.
  std::shared_ptr<const StoredGlossary> find(const std::string& id, const std::string& owner = {}) const;
  std::vector<std::shared_ptr<const StoredGlossary>> all(const std::string& owner = {}) const;
  bool remove(const std::string& id, const std::string& owner = {});  // whether there was one

 private:
  std::shared_ptr<const StoredGlossary> keep(StoredGlossary glossary, bool is_new);
  void reserve(size_t bytes, bool is_new);
  void release(size_t bytes, bool is_new);
  std::string path(const std::string& id) const;
  void read_folder();

  const std::string folder_;
  std::mutex changing_;  // held while one is edited and written
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const StoredGlossary>> glossaries_;
  size_t reserved_ = 0;  // glossaries that are being written
  size_t bytes_ = 0;     // of all, those that are being written among them
};

}  // namespace dragoman::internal
