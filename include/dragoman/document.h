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
  std::string name;         // its name: the extension determines the format; also for messages
  std::string format = {};  // or the format: document_formats() lists them
  // Options for each text, as in Request.
  Options options = {};
  const Glossary* glossary = nullptr;  // terms whose translation is given
  const Memory* memory = nullptr;      // what has been translated before, as in Request
  // How many translations of the whole document to return besides the best: fewer than the beam's size.
  size_t alternatives = 0;
  std::stop_token stop = {};               // cancels
  std::chrono::milliseconds timeout = {};  // of the whole document; 0: none
  uint64_t client = 0;                     // as of a Request; 0: the document is a client of its own
  // Called on the calling thread, a few times per second and at the end. An exception from it ends the
  // translation.
  std::function<void(size_t done, size_t segments)> on_progress = {};
  // Of a table: the columns that are translated, as "title,description" or "2,3"; empty: those that have text.
  std::string columns = {};
  // Formats that have a place for it (XLIFF, PO) say which translations no memory has. XLIFF does so with any memory.
  bool mark_unconfirmed = false;
};

struct TranslatedDocument {
  std::string bytes;
  // Further translations of the whole file: the first has each text's second best translation, and so on; a text
  // without another has its best. Fewer than requested where no text has another that keeps its numbers and terms.
  std::vector<std::string> alternatives = {};
  size_t segments = 0;  // texts that were translated: paragraphs, cells, messages
  // Of these segments:
  size_t cut = 0, unknown = 0, repeats = 0;  // segments whose Translation has this flag
  size_t terms_missed = 0;                   // segments that are missing a glossary term
  size_t memory = 0;                         // segments that are as the memory has them
  size_t similar = 0;                        // segments that were translated with similar ones in view
  size_t repaired = 0;                       // segments in which a placeholder had to be restored or removed
};

DRAGOMAN_API TranslatedDocument translate_document(Translator& translator, const DocumentRequest& request);

// The document's translatable text, one line per segment: for detecting its language or counting characters. Only the
// request's file is used.
DRAGOMAN_API std::string document_text(const DocumentRequest& request);

struct DocumentFormat {
  std::string name, description;
  std::vector<std::string> endings;  // of file names: ".html"
  std::string written_as;            // the format of a translation, where it is another: "text"
};

// Those that this build reads.
DRAGOMAN_API std::vector<DocumentFormat> document_formats();

}  // namespace dragoman
