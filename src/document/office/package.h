// A package: a zip file whose entries are a document's parts, as office files and books are.
//
//   Package package(bytes, settings);
//   std::vector<PackagePart> parts;
//   parts.push_back({name, read_xml_blocks(package.read(name), package.settings_of(name), rules)});
//   return package_document(bytes, settings, std::move(parts));
//
// Entries are read into memory, and no name is ever used as a path on disk. Rejected are overlapping and encrypted
// entries, those that decompress to more than 200 times their size and 1 MB, and more than 256 MB in all.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

class Package {
 public:
  Package(std::string_view bytes, DocumentSettings settings);
  ~Package();

  const std::vector<std::string>& names() const { return names_; }  // of the entries, in their order
  bool contains(const std::string& name) const;
  std::string read(const std::string& name);  // the first with this name

  void replace(const std::string& name,
               const std::string& bytes);  // the bytes must outlive the call of write()
  std::string write() &&;

  DocumentSettings settings_of(const std::string& name) const;  // for messages about an entry

 private:
  struct Archive;

  size_t index_of(const std::string& name) const;

  DocumentSettings settings_;
  std::unique_ptr<Archive> archive_;
  std::vector<std::string> names_;
  size_t bytes_read_ = 0;
};

struct PackagePart {
  std::string name;
  Document document;
};

// The document of a package's parts. Other entries, their order, times and comments stay, compressed as they are; if
// no segment changes, so do all bytes.
Document package_document(std::string_view bytes, const DocumentSettings& settings,
                          std::vector<PackagePart> parts);

}  // namespace dragoman::internal
