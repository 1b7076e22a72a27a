// Adapted models: what `dragoman adapt` made of a model, in a folder of its own, to be served in that model's place.
//
// Which one is served follows from what is on the disk alone, so that a server that starts again serves the same: the
// adapted model as long as its folder is there and its adaptation.json names the base as it is now.
#pragma once

#include <optional>
#include <string>

#include "serve/models/folder_watch.h"
#include "serve/translations.h"

namespace dragoman::internal {

// "models/demo.adapted" for "models/demo"; "adapted/demo.adapted" where `in` is "adapted".
std::string adapted_folder(const std::string& base, const std::string& in);

// What the folder's adaptation.json says. Throws an Error where it is damaged, or says that another model than this
// base was adapted.
Adaptation read_adaptation(const std::string& adapted, const std::string& base);

// Of both folders, where `in` says that there may be two.
FolderState state_of_both(const std::string& base, const std::optional<std::string>& in);

}  // namespace dragoman::internal
