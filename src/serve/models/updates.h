// Updates: models that differ from a served one by what one customer taught it (`dragoman adapt --weights low_rank`),
// each a folder in one. A request names the one that it is translated with.
//
// An update is loaded when it is first asked for, and again when its folder has changed. The last ones that were used
// stay loaded; another one only as long as something is translated with it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dragoman/translator.h"
#include "serve/models/folder_watch.h"
#include "serve/models/models.h"

namespace dragoman::internal {

class Updates {
 public:
  // `loaded`: how many stay loaded.
  Updates(std::string folder, size_t loaded, const dragoman::TranslatorSettings& settings,
          TranslatorReaper& reaper);

  std::vector<std::string> names() const;

  // A usage error unless there is one of this name.
  void require(const std::string& name) const;

  // The route with the update in its base's place; a usage error if no model of it is the base. Loading takes a moment.
  LanguageRoute route_with(const std::string& name, LanguageRoute route);

 private:
  struct Loaded {
    std::string name, base;  // a folder
    FolderState state;       // of both folders, when it was loaded
    std::shared_ptr<dragoman::Translator> translator;
  };

  std::string folder_of(const std::string& name) const { return folder_ + "/" + name; }
  Loaded get(const std::string& name);
  std::optional<Loaded> known(const std::string& name);
  Loaded load(const std::string& name);

  const std::string folder_;
  const size_t most_;
  const dragoman::TranslatorSettings settings_;
  TranslatorReaper& reaper_;
  std::mutex loading_;  // one at a time: others may wait for the same
  std::mutex mutex_;
  std::list<Loaded> loaded_;  // the last used first
};

}  // namespace dragoman::internal
