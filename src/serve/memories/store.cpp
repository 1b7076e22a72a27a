#include "serve/memories/store.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "api/shared_memory.h"
#include "base/error.h"
#include "base/quotes.h"
#include "serve/models/named_folder.h"
#include "serve/models/served_languages.h"
#include "serve/route.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

// A memory may be built with "EN", "eng" or "pt_BR".
bool is_language_of(const std::string& of_memory, const std::string& language) {
  const std::string code = language_code(of_memory);
  return ServedLanguages::find({code.empty() ? of_memory : code}, language).has_value();
}

}  // namespace

bool ServedMemory::has_pair(const std::string& from, const std::string& to) const {
  return is_language_of(memory->from(), from) && is_language_of(memory->to(), to);
}

MemoryStore::MemoryStore(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const NamedFolder given = named_folder(argument);
    const std::string name = given.folder != argument
                                 ? given.name
                                 : last_part(std::filesystem::path(argument).lexically_normal().string());
    if (name.empty() || name.find('/') != name.npos)
      throw UsageError("--memory {}: a memory needs a name: NAME=DIR", argument);
    if (std::ranges::any_of(memories_, [&](const auto& known) { return known->name == name; }))
      throw UsageError("--memory {}: there are two memories with the name {}: name one as NAME=DIR", argument,
                       in_quotes(name));
    const auto memory = std::make_shared<TranslationMemory>(given.folder, MemoryAccess::add);
    memories_.push_back(
        std::make_shared<const ServedMemory>(ServedMemory{name, memory, memory_over(memory)}));
  }
}

std::shared_ptr<const ServedMemory> MemoryStore::named(const std::string& name) const {
  const auto found = std::ranges::find_if(memories_, [&](const auto& known) { return known->name == name; });
  if (found == memories_.end())
    throw ServeError(404, fmt::format("there is no memory {}; GET /v1/memories lists all", in_quotes(name)));
  return *found;
}

ServedMemories of_pair(const ServedMemories& memories, const std::string& from, const std::string& to) {
  ServedMemories some;
  std::ranges::copy_if(memories, std::back_inserter(some),
                       [&](const auto& one) { return one->has_pair(from, to); });
  return some;
}

std::vector<MemoryMatch> look_up(const ServedMemories& memories, const std::string& text,
                                 const MemoryQuery& query) {
  std::vector<MemoryMatch> all;
  for (const auto& one : memories) {
    for (MemoryMatch& match : one->memory->look_up(text, query)) {
      const bool is_known = std::ranges::any_of(
          all, [&](const MemoryMatch& known) { return known.segment.source == match.segment.source; });
      if (!is_known) all.push_back(std::move(match));
    }
  }
  std::ranges::stable_sort(all, std::greater<>(), &MemoryMatch::similarity);
  if (std::ssize(all) > query.at_most) all.resize(static_cast<size_t>(query.at_most));
  return all;
}

std::optional<MemoryMatch> translation_in(const ServedMemories& memories, const std::string& text,
                                          double at_least) {
  for (const auto& one : memories)
    if (auto match = one->memory->exact(text, {})) return match;
  if (at_least >= 1) return std::nullopt;
  std::vector<MemoryMatch> similar = look_up(memories, text, {.at_most = 1, .at_least = at_least});
  if (similar.empty()) return std::nullopt;
  return std::move(similar.front());
}

}  // namespace dragoman::internal
