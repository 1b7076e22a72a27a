// Translates a document with one model, or with two in turn, on the calling thread.
#pragma once

#include <string>

#include "serve/models/models.h"
#include "serve/translations/text_job.h"

namespace dragoman::internal {

// The text of a document; a usage error if it cannot be read, which is its sender's to mend.
std::string text_of_document(const TextWork& work);

// Throws a usage error if an option does not apply to documents.
void check_document(const TextWork& work, const LanguageRoute& route);

void translate_document(const TextWork& work, const LanguageRoute& route, TextResult result,
                        const std::stop_token& end, const OnText& on_done);

}  // namespace dragoman::internal
