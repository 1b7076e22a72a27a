// fastText's model of 176 languages (Joulin et al., "Bag of Tricks for Efficient Text Classification", 2016), which
// tools/get_detector downloads. Where the program is built without fastText an Error says so.
#pragma once

#include <memory>
#include <string>

#include "text/language_identifier.h"

namespace dragoman::internal {

// An Error where the file is not lid.176.ftz.
std::unique_ptr<LanguageIdentifier> open_fasttext(const std::string& file);

// `bytes` are lid.176.ftz: fastText trusts what it reads.
std::unique_ptr<LanguageIdentifier> read_fasttext(const std::string& bytes);

}  // namespace dragoman::internal
