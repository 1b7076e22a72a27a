#include "document/office/package.h"

#include <zip.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr uint64_t max_package_bytes = 256 << 20, free_of_ratio = 1 << 20, max_ratio = 200;

template <auto release>
struct Release {
  void operator()(auto* resource) const { release(resource); }
};
using Source = std::unique_ptr<zip_source_t, Release<zip_source_free>>;
using Zip = std::unique_ptr<zip_t, Release<zip_discard>>;
using File = std::unique_ptr<zip_file_t, Release<zip_fclose>>;

[[noreturn]] void fail(const DocumentSettings& settings, const char* reason) {
  throw Error("{}: this zip file cannot be read ({}): save the document again", settings.name,
              repaired(reason));
}

// A copy that libzip owns: version 1.7 also frees bytes that it does not own if it keeps the beginning of a file.
Source source_of(std::string_view bytes) {
  void* const copy = std::malloc(bytes.size());
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, bytes.data(), bytes.size());
  return Source(zip_source_buffer_create(copy, bytes.size(), 1, nullptr));
}

Zip open_zip(zip_source_t* source, const DocumentSettings& settings) {
  zip_error_t error = {};
  zip_source_keep(source);  // the archive releases it too
  Zip zip(zip_open_from_source(source, 0, &error));
  if (zip != nullptr) return zip;
  zip_source_free(source);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  fail(settings, reason.c_str());
}

zip_stat_t stat_of(zip_t* zip, size_t index, const DocumentSettings& settings) {
  zip_stat_t stat;
  if (zip_stat_index(zip, index, 0, &stat) != 0) fail(settings, zip_strerror(zip));
  constexpr zip_uint64_t needed =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_ENCRYPTION_METHOD;
  if ((stat.valid & needed) != needed) fail(settings, "an entry without a size");
  return stat;
}

void check_kind(std::string_view bytes, const DocumentSettings& settings) {
  if (bytes.starts_with("\xD0\xCF\x11\xE0"))
    throw Error(
        "{}: this file has an old office format or a password: save it in a newer format without a password",
        settings.name);
  if (!bytes.starts_with("PK"))
    throw Error("{}: not a zip file, which this format requires: check the file or give its format",
                settings.name);
}

}  // namespace

struct Package::Archive {
  Source source;
  Zip zip;
};

Package::Package(std::string_view bytes, DocumentSettings settings) : settings_(std::move(settings)) {
  check_kind(bytes, settings_);
  Source source = source_of(bytes);
  Zip zip = open_zip(source.get(), settings_);
  uint64_t compressed = 0;
  const auto entries = static_cast<size_t>(zip_get_num_entries(zip.get(), 0));
  for (size_t i = 0; i < entries; ++i) {
    const zip_stat_t stat = stat_of(zip.get(), i, settings_);
    if (stat.encryption_method != ZIP_EM_NONE)
      throw Error("{}: {} is encrypted: save the document without a password", settings_.name,
                  repaired(stat.name));
    if (stat.comp_size > bytes.size() - compressed) fail(settings_, "entries overlap");
    compressed += stat.comp_size;
    names_.emplace_back(stat.name);
  }
  archive_.reset(new Archive{std::move(source), std::move(zip)});
}

Package::~Package() = default;

DocumentSettings Package::settings_of(const std::string& name) const {
  return {.name = settings_.name + ": " + repaired(name), .from = settings_.from, .to = settings_.to};
}

bool Package::contains(const std::string& name) const {
  return zip_name_locate(archive_->zip.get(), name.c_str(), 0) >= 0;
}

size_t Package::index_of(const std::string& name) const {
  const zip_int64_t index = zip_name_locate(archive_->zip.get(), name.c_str(), 0);
  if (index < 0)
    throw Error("{}: there is no {} in this document: save it again", settings_.name, repaired(name));
  return static_cast<size_t>(index);
}

std::string Package::read(const std::string& name) {
  zip_t* const zip = archive_->zip.get();
  const size_t index = index_of(name);
  const zip_stat_t stat = stat_of(zip, index, settings_);
  const bool inflated = stat.size > free_of_ratio && stat.size / max_ratio > stat.comp_size;
  if (inflated || stat.size > max_package_bytes - bytes_read_)
    throw Error("{}: {} decompresses to {} bytes, which is too much: split the document", settings_.name,
                repaired(name), stat.size);
  const File file(zip_fopen_index(zip, index, 0));
  if (file == nullptr) fail(settings_of(name), zip_strerror(zip));
  std::string bytes(stat.size + 1, '\0');  // one byte more, to see that the entry ends
  size_t size = 0;
  while (size < bytes.size()) {
    const zip_int64_t got = zip_fread(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0) fail(settings_of(name), zip_file_strerror(file.get()));
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size != stat.size) fail(settings_of(name), "its size does not match the zip directory");
  bytes.pop_back();
  bytes_read_ += size;
  return bytes;
}

void Package::replace(const std::string& name, const std::string& bytes) {
  zip_t* const zip = archive_->zip.get();
  const size_t index = index_of(name);
  const zip_stat_t stat = stat_of(zip, index, settings_);
  zip_source_t* const source = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
  const bool stored = (stat.valid & ZIP_STAT_COMP_METHOD) != 0 && stat.comp_method == ZIP_CM_STORE;
  if (zip_file_replace(zip, index, source, 0) != 0 ||
      zip_set_file_compression(zip, index, stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE, 0) != 0 ||
      ((stat.valid & ZIP_STAT_MTIME) != 0 && zip_file_set_mtime(zip, index, stat.mtime, 0) != 0))
    fail(settings_of(name), zip_strerror(zip));
}

std::string Package::write() && {
  if (zip_close(archive_->zip.get()) != 0) fail(settings_, zip_strerror(archive_->zip.get()));
  static_cast<void>(archive_->zip.release());  // zip_close has released it
  zip_source_t* const source = archive_->source.get();
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_stat(source, &stat) != 0 || zip_source_open(source) != 0)
    fail(settings_, zip_error_strerror(zip_source_error(source)));
  std::string bytes(stat.size, '\0');
  const zip_int64_t size = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  CHECK(size == static_cast<zip_int64_t>(bytes.size()), "{} of {}", size, bytes.size());
  return bytes;
}

Document package_document(std::string_view bytes, const DocumentSettings& settings,
                          std::vector<PackagePart> parts) {
  Document whole;
  std::vector<std::string> originals;
  std::vector<size_t> firsts;  // of each part's segments, and the end
  for (PackagePart& part : parts) {
    firsts.push_back(originals.size());
    for (DocumentSegment& segment : part.document.segments) {
      originals.push_back(segment.original);
      whole.segments.push_back(std::move(segment));
    }
    part.document.segments.clear();
  }
  firsts.push_back(originals.size());
  whole.write = [=, file = std::string(bytes), parts = std::move(parts), originals = std::move(originals),
                 firsts = std::move(firsts)](std::span<const std::string> rendered) {
    if (std::ranges::equal(rendered, originals)) return file;
    Package package(file, settings);
    std::vector<std::string> written(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      written[i] = parts[i].document.write(rendered.subspan(firsts[i], firsts[i + 1] - firsts[i]));
      if (written[i] != package.read(parts[i].name)) package.replace(parts[i].name, written[i]);
    }
    return std::move(package).write();
  };
  return whole;
}

}  // namespace dragoman::internal
