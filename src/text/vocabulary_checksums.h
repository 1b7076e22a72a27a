// Checksums of a model's vocabulary files, which its config.json has under "vocabulary_checksums": another vocabulary
// of the same size would fit the model, too, and make it translate something else.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace dragoman::internal {

// From config.json; empty if it is missing or not JSON, which its other readers report.
nlohmann::json config_of_vocabularies(const std::string& folder);

// By name, of those files that the folder has: {"shared.spm": "2d06800538d394c2"}.
nlohmann::json vocabulary_checksums(const std::string& folder);

// Throws an Error if the configuration beside this file has another checksum of it. Earlier versions wrote none, and
// the folder of a prepared corpus has no configuration.
void verify_vocabulary(const nlohmann::json& config, const std::string& path, std::string_view contents);

}  // namespace dragoman::internal
