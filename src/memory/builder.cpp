#include "memory/builder.h"

#include <filesystem>

#include "base/files.h"
#include "base/new_file.h"
#include "memory/part_writer.h"

namespace dragoman::internal {
namespace {

std::unique_ptr<MemoryLock> lock_of_former(const std::string& folder) {
  std::error_code none;
  if (!std::filesystem::exists(folder + "/" + memory_manifest_name, none)) return nullptr;
  return std::make_unique<MemoryLock>(folder);
}

}  // namespace

struct MemoryBuilder::OpenPart {
  explicit OpenPart(const std::string& path)
      : file(path), writer([this](std::string_view bytes) { file.write(bytes); }) {}

  NewFile file;
  PartWriter writer;
};

MemoryBuilder::MemoryBuilder(const std::string& folder, const std::string& from, const std::string& to)
    : former_(lock_of_former(folder)),
      folder_(folder, memory_manifest_name),
      manifest_{.from = from, .to = to} {}

MemoryBuilder::~MemoryBuilder() = default;

void MemoryBuilder::add(const MemorySegmentView& segment) {
  if (part_ == nullptr) {
    manifest_.parts.push_back(manifest_.new_name("segments"));
    part_ = std::make_unique<OpenPart>(folder_.path() + "/" + manifest_.parts.back());
  }
  part_->writer.add(segment);
  ++added_;
  if (part_->writer.is_full()) finish_part();
}

void MemoryBuilder::finish_part() {
  part_->writer.finish();
  part_->file.finish();
  part_.reset();
}

void MemoryBuilder::finish() {
  if (part_ != nullptr) finish_part();
  manifest_.log = manifest_.new_name("log");
  write_file(folder_.path() + "/" + manifest_.log, {});
  write_manifest(folder_.path(), manifest_);
  folder_.finish();
}

}  // namespace dragoman::internal
