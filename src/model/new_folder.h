// A new model folder, made from another or imported.
#pragma once

#include <string>

namespace dragoman::internal {

// Throws a UsageError if the folder holds a model already, an Error if it cannot be written.
void check_new_model_folder(const std::string& folder);

// Configuration, vocabularies and shortlist, into a folder that is created if needed.
void copy_all_but_weights(const std::string& from, const std::string& to);

}  // namespace dragoman::internal
