// Packages for tests.
#pragma once

#include <zip.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace dragoman::internal {

using Entries = std::vector<std::pair<std::string, std::string>>;  // names and bytes

// A zip file; the entry mimetype is stored uncompressed.
inline std::string packed(const Entries& entries) {
  zip_source_t* const source = zip_source_buffer_create(nullptr, 0, 0, nullptr);
  zip_t* const zip = zip_open_from_source(source, ZIP_TRUNCATE, nullptr);
  CHECK(zip != nullptr);
  zip_source_keep(source);
  for (const auto& [name, bytes] : entries) {
    zip_source_t* const content = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
    const auto index = static_cast<zip_uint64_t>(zip_file_add(zip, name.c_str(), content, ZIP_FL_ENC_UTF_8));
    zip_set_file_compression(zip, index, name == "mimetype" ? ZIP_CM_STORE : ZIP_CM_DEFLATE, 0);
    zip_file_set_mtime(zip, index, 1'000'000'000, 0);
  }
  CHECK(zip_close(zip) == 0);
  zip_stat_t stat;
  zip_source_stat(source, &stat);
  zip_source_open(source);
  std::string bytes(stat.size, '\0');
  CHECK(zip_source_read(source, bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size()));
  zip_source_close(source);
  zip_source_free(source);
  return bytes;
}

// The entries of a zip file, in their order.
inline Entries unpacked(const std::string& bytes) {
  zip_t* const zip = zip_open_from_source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, nullptr),
                                          ZIP_RDONLY, nullptr);
  CHECK(zip != nullptr);
  Entries entries;
  for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); ++i) {
    zip_stat_t stat;
    zip_stat_index(zip, static_cast<zip_uint64_t>(i), 0, &stat);
    zip_file_t* const file = zip_fopen_index(zip, static_cast<zip_uint64_t>(i), 0);
    std::string content(stat.size, '\0');
    CHECK(zip_fread(file, content.data(), content.size()) == static_cast<zip_int64_t>(content.size()));
    zip_fclose(file);
    entries.emplace_back(stat.name, content);
  }
  zip_discard(zip);
  return entries;
}

inline std::string docx_with(const std::string& document_xml) {
  return packed({{"[Content_Types].xml",
                  "<Types><Override PartName=\"/word/document.xml\" ContentType=\"application/"
                  "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>"},
                 {"word/document.xml", document_xml}});
}

}  // namespace dragoman::internal
