#include "model/tensor_checksums.h"

#include <algorithm>
#include <vector>

#include "base/checksum.h"
#include "base/error.h"
#include "base/quotes.h"
#include "base/threads.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view prefix = "xxh3:";

std::string key_of(const TensorEntry& entry) { return std::string(prefix) + entry.name; }

// The checksum of each, computed by several threads.
std::vector<std::string> checksums_of(std::span<const TensorEntry> entries, int threads) {
  struct Work {
    std::span<const TensorEntry> entries;
    std::vector<std::string> checksums;
  } work = {entries, std::vector<std::string>(entries.size())};
  ThreadPool pool(threads);
  pool.run(
      std::ssize(entries),
      [](void* argument, int64_t task, int) {
        auto& [all, checksums] = *static_cast<Work*>(argument);
        const auto i = static_cast<size_t>(task);
        checksums[i] = checksum_of(all[i].bytes);
      },
      &work);
  return std::move(work.checksums);
}

}  // namespace

void add_checksums(Metadata& metadata, std::span<const TensorEntry> entries) {
  for (const TensorEntry& entry : entries) metadata.insert_or_assign(key_of(entry), checksum_of(entry.bytes));
}

bool has_checksums(const Metadata& metadata) {
  const auto first = metadata.lower_bound(prefix);
  return first != metadata.end() && first->first.starts_with(prefix);
}

void verify_checksums(const std::string& path, const Metadata& metadata, std::span<const TensorEntry> entries,
                      int threads) {
  if (!has_checksums(metadata)) return;
  const std::vector<std::string> found = checksums_of(entries, threads);
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto written = metadata.find(key_of(entries[i]));
    if (written != metadata.end() && written->second == found[i]) continue;
    throw Error("{} is damaged: tensor {} does not match {}; copy the file again, or use another one", path,
                in_quotes(entries[i].name),
                written == metadata.end() ? "any checksum of the file" : "its checksum");
  }
}

}  // namespace dragoman::internal
