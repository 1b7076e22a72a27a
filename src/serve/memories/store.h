// MemoryStore: the translation memories of a server, opened to add, so that no other process adds meanwhile.
//
// Every function may be called from any thread. All of them read files that are mapped, and so may wait for the disk.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dragoman/memory.h"
#include "memory/memory.h"

namespace dragoman::internal {

struct ServedMemory {
  std::string name;  // as requests have it
  std::shared_ptr<TranslationMemory> memory;
  dragoman::Memory in_translating;  // the same, as requests to a translator have it

  // Whether it is of these languages, which may be written as clients do: "EN", "pt_BR".
  bool has_pair(const std::string& from, const std::string& to) const;
};

using ServedMemories = std::vector<std::shared_ptr<const ServedMemory>>;

class MemoryStore {
 public:
  // [NAME=]DIR each. Throws an Error where one cannot be opened, or has the name of another.
  explicit MemoryStore(const std::vector<std::string>& arguments = {});

  const ServedMemories& all() const { return memories_; }
  // Throws a ServeError of status 404 where there is none.
  std::shared_ptr<const ServedMemory> named(const std::string& name) const;

 private:
  ServedMemories memories_;  // as they were given
};

// Those of these languages.
ServedMemories of_pair(const ServedMemories& memories, const std::string& from, const std::string& to);

// The most similar segments of all, the most similar first; of equals those of the first memory. A source comes once.
std::vector<MemoryMatch> look_up(const ServedMemories& memories, const std::string& text,
                                 const MemoryQuery& query);

// What stands for a text's translation: an exact match, else the most similar segment, if it is so similar.
std::optional<MemoryMatch> translation_in(const ServedMemories& memories, const std::string& text,
                                          double at_least = 1);

}  // namespace dragoman::internal
