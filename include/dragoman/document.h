// Whole files: text in them is translated, and everything else stays as it is, byte for byte.
//
//   dragoman::Translator translator("models/demo");
//   const auto page = dragoman::translate_document(translator, {.bytes = read("page.html"), .name = "page.html"});
//
// Tags, formatting, times and placeholders come out exactly once each (docs/documents.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "dragoman/error.h"
#include "dragoman/export.h"
#include "dragoman/glossary.h"
#include "dragoman/options.h"
#include "dragoman/translator.h"

namespace dragoman {

struct DocumentRequest {
  std::string bytes;        // the file
  std::string name;         // its name, by whose ending its format is known; for messages, too
  std::string format = {};  // or the format: document_formats() lists them
  // Of each text, as Request has them. Texts are split into sentences: "split-sentences" is "any" by default.
  Options options = {};
  const Glossary* glossary = nullptr;  // terms whose translation is given
  // Other translations of the whole that are asked for besides the best. They need a beam of at least one more.
  size_t alternatives = 0;
  std::stop_token stop = {};               // cancels
  std::chrono::milliseconds timeout = {};  // of the whole document; 0: none
  uint64_t client = 0;                     // as of a Request; 0: the document is a client of its own
  // On the calling thread, some times a second and at the end. What it throws ends the translation.
  std::function<void(size_t done, size_t segments)> on_progress = {};
};

struct TranslatedDocument {
  std::string bytes;
  // Each of the other translations of every text, the most probable first, and the best where a text has no more. Fewer
  // than were asked for where the texts have fewer that differ and keep their numbers and the glossary's terms.
  std::vector<std::string> alternatives = {};
  size_t segments = 0;  // texts that were translated: paragraphs, cells, messages
  // Of these segments:
  size_t cut = 0, unknown = 0, repeats = 0;  // those for which Translation says so
  size_t terms_missed = 0;                   // those that lack a term of the glossary
  size_t repaired = 0;                       // those in which the model had lost or doubled a placeholder
};

DRAGOMAN_API TranslatedDocument translate_document(Translator& translator, const DocumentRequest& request);

// What of a document is translated, a line each: to detect its language, or to count its characters. Of the request
// only the file counts.
DRAGOMAN_API std::string document_text(const DocumentRequest& request);

struct DocumentFormat {
  std::string name, description;
  std::vector<std::string> endings;  // of file names: ".html"
};

DRAGOMAN_API std::vector<DocumentFormat> document_formats();

}  // namespace dragoman
