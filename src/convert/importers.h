// The importers, one per system. Each is a function in a file of its own; nothing else in the program knows of other
// systems' files.
#pragma once

#include <span>
#include <string>

#include "convert/imported_model.h"

namespace dragoman::internal {

struct Importer {
  const char* format;       // what the user calls it: "huggingface-marian"
  const char* description;  // "Hugging Face Marian (OPUS-MT): a folder"
  // By the files that are there and their contents. Errors about damaged files are left to `import`.
  bool (*recognises)(const std::string& source);
  ImportedModel (*import)(const ImportRequest& request);
};

// In the order in which they are tried.
std::span<const Importer> importers();

// By the importer of this format; if it is empty, by the first that recognises the source.
ImportedModel import_model(const ImportRequest& request, const std::string& format = "");

}  // namespace dragoman::internal
