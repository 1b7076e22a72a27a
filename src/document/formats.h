// The document formats that can be translated. Each has a reader in a file of its own and a line in the table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

struct DocumentFormat {
  std::string_view name;                  // "html"
  std::string_view description;           // "HTML"
  std::vector<std::string_view> endings;  // of file names: ".html"
  // Throws an Error, which begins with the file's name, if the bytes are not such a document.
  Document (*read)(std::string_view bytes, const DocumentSettings& settings);
  bool keeps_source = false;         // a translation stands beside its source, in the same file
  std::string_view written_as = {};  // the format of a translation, where it is another: "text"
  bool is_built = true;              // whether this build reads it
};

std::span<const DocumentFormat> document_formats();

// By name, or if that is empty by the ending of the file's name. Throws a UsageError that lists the formats.
const DocumentFormat& document_format(std::string_view name, std::string_view file);

// The same, but what the bytes show to be another format has that one, whatever the file's name is. Throws an Error if
// they are a package of another format than the one given by name.
const DocumentFormat& document_format(std::string_view name, std::string_view file, std::string_view bytes);

}  // namespace dragoman::internal
