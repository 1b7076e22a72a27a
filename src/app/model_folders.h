// A model's folder made from another: what average and quantize share.
#pragma once

#include <string>

namespace dragoman {

// A UsageError where the folder holds a model already, an Error where nothing can be written into it.
void check_new_model_folder(const std::string& folder);

// Configuration and vocabularies, into a folder that is made if it is not there.
void copy_all_but_weights(const std::string& from, const std::string& to);

}  // namespace dragoman
