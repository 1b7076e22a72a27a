#include "model/tensor_checksums.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/error.h"
#include "base/quotes.h"
#include "base/threads.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view checksum_prefix = "xxh3:";

std::string key_of(const std::string& tensor) { return std::string(checksum_prefix) + tensor; }

// The checksum of each, computed by several threads.
std::vector<std::string> checksums_of(std::span<const TensorEntry> entries, int threads) {
  std::vector<std::string> checksums(entries.size());
  ThreadPool pool(threads);
  pool.for_each(entries.size(), [&](size_t i) { checksums[i] = checksum_of(entries[i].bytes); });
  return checksums;
}

}  // namespace

void add_checksum(Metadata& metadata, const std::string& tensor, std::string checksum) {
  metadata.insert_or_assign(key_of(tensor), std::move(checksum));
}

bool has_checksums(const Metadata& metadata) {
  const auto first = metadata.lower_bound(checksum_prefix);
  return first != metadata.end() && first->first.starts_with(checksum_prefix);
}

std::string fingerprint(const Metadata& metadata) {
  std::string all;
  for (const auto& [key, checksum] : metadata)
    if (key.starts_with(checksum_prefix)) all += key + checksum;
  return all.empty() ? "" : checksum_of(all);
}

void verify_checksums(const std::string& path, const Metadata& metadata, std::span<const TensorEntry> entries,
                      int threads) {
  if (!has_checksums(metadata)) return;
  const std::vector<std::string> found = checksums_of(entries, threads);
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto written = metadata.find(key_of(entries[i].name));
    if (written != metadata.end() && written->second == found[i]) continue;
    throw Error("{} is damaged: tensor {} does not match {}; copy the file again, or use another one", path,
                in_quotes(entries[i].name),
                written == metadata.end() ? "any checksum of the file" : "its checksum");
  }
}

}  // namespace dragoman::internal
