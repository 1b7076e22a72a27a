#include "convert/torch/file.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "convert/files/sharded.h"
#include "convert/files/zip_archive.h"
#include "convert/torch/tensors.h"
#include "convert/torch/unpickler.h"

namespace dragoman::internal {
namespace {

using Storages = std::map<std::string, SharedBytes, std::less<>>;

void collect(const std::string& path, TorchFile& file,
             const std::function<SharedBytes(const TorchStorage&)>& data_of) {
  const PickleValue& root = *file.pickle.root;
  if (root.entries().empty() && !root.as<PickleDict>())
    throw Error("{} holds {} where a dict of tensors is expected; save the model's state_dict()", path,
                root.described());
  file.tensors = collect_tensors(path, root, data_of);
  if (file.tensors.empty())
    throw Error("{} holds no tensors in its dicts; save the model's state_dict()", path);
}

[[noreturn]] void big_endian(const std::string& path) {
  throw Error("{} was written on a big-endian machine; load and save it with PyTorch on a little-endian one",
              path);
}

// --- the zip archive: FOLDER/data.pkl, FOLDER/byteorder, and each storage as FOLDER/data/KEY ---

std::string folder_of(const std::string& path, const ZipArchive& archive) {
  constexpr std::string_view pickle = "/data.pkl";
  for (const auto& [name, member] : archive.members()) {
    if (name.ends_with(pickle) && name.find('/') == name.size() - pickle.size())
      return name.substr(0, name.size() - pickle.size() + 1);
  }
  throw Error("{} is a zip archive, but not one that torch.save wrote: it has no data.pkl", path);
}

void check_byte_order(const std::string& path, ZipArchive& archive, const std::string& member) {
  if (!archive.has(member)) return;
  const SharedBytes order = archive.read(member);
  const std::string_view text(reinterpret_cast<const char*>(order.bytes.data()), order.bytes.size());
  if (text != "little") big_endian(path);
}

TorchFile read_zip(const std::string& path, SharedBytes bytes) {
  ZipArchive archive(path, std::move(bytes));
  const std::string folder = folder_of(path, archive);
  check_byte_order(path, archive, folder + "byteorder");
  SharedBytes text = archive.read(folder + "data.pkl");
  TorchFile file = {.tensors = {}, .pickle = {}, .owner = std::move(text.owner)};
  ByteReader reader(path, text.bytes);
  unpickle(reader, file.pickle);
  Storages read;  // a member is inflated once
  collect(path, file, [&](const TorchStorage& storage) {
    const auto known = read.find(storage.key);
    if (known != read.end()) return known->second;
    return read[std::string(storage.key)] = archive.read(folder + "data/" + std::string(storage.key));
  });
  return file;
}

// --- the stream: five pickles, then each storage as a count and its elements ---

constexpr std::string_view legacy_magic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr int64_t stream_version = 1001;

void read_preamble(ByteReader& bytes, Pickle& pickle) {
  unpickle(bytes, pickle);
  const auto* const first = pickle.root->as<PickleBytes>();
  if (!first || first->bytes != legacy_magic) bytes.fail("is a pickle, but not one that torch.save wrote");
  unpickle(bytes, pickle);
  if (pickle.root->integer() != stream_version) bytes.fail("was written by an unknown version of torch.save");
  unpickle(bytes, pickle);
  const PickleValue* const little_endian = pickle.root->find("little_endian");
  if (little_endian && little_endian->boolean() == false) big_endian(bytes.path());
}

Storages read_storages(ByteReader& bytes, const Pickle& pickle, const std::shared_ptr<const void>& owner) {
  std::map<std::string_view, size_t> element_sizes;
  for (const PickleValue& value : pickle.values) {
    if (const auto* const persistent = value.as<PicklePersistent>()) {
      const TorchStorage storage = read_storage(bytes.path(), *persistent);
      element_sizes.emplace(storage.key, element_size(storage.type));
    }
  }
  Storages storages;
  for (const PickleValue* const key : pickle.root->items()) {
    const auto size = element_sizes.find(key->text().value_or(""));
    if (size == element_sizes.end()) bytes.fail("is damaged: it has a storage that no tensor uses");
    const auto count = bytes.number<uint64_t>();
    if (count > bytes.left() / size->second)
      bytes.fail("is truncated or damaged: it has a storage of {} elements", count);
    storages[std::string(size->first)] = {bytes.bytes(count * size->second), owner};
  }
  return storages;
}

TorchFile read_stream(const std::string& path, SharedBytes whole) {
  TorchFile file = {.tensors = {}, .pickle = {}, .owner = std::move(whole.owner)};
  ByteReader bytes(path, whole.bytes);
  read_preamble(bytes, file.pickle);
  unpickle(bytes, file.pickle);
  const PickleValue* const root = file.pickle.root;
  unpickle(bytes, file.pickle);  // the storages' keys
  const Storages storages = read_storages(bytes, file.pickle, file.owner);
  file.pickle.root = root;
  collect(path, file, [&](const TorchStorage& storage) {
    const auto found = storages.find(storage.key);
    return found == storages.end() ? SharedBytes() : found->second;
  });
  return file;
}

}  // namespace

TorchFile open_torch(const std::string& path) {
  SharedBytes file = map_file(path);
  if (ZipArchive::is_zip(file.bytes)) return read_zip(path, std::move(file));
  if (!is_pickle(file.bytes)) throw Error("{} is not a file that torch.save wrote", path);
  return read_stream(path, std::move(file));
}

ForeignTensors read_torch(const std::string& path) {
  constexpr auto read_shard = [](const std::string& shard) { return open_torch(shard).tensors; };
  return path.ends_with(".json") ? read_sharded(path, read_shard) : read_shard(path);
}

namespace fs = std::filesystem;

std::string checkpoint_path(const std::string& source) {
  if (!fs::is_directory(source)) return source;
  for (const char* name : {"checkpoint_best.pt", "model.pt"}) {
    const fs::path path = fs::path(source) / name;
    if (fs::exists(path)) return path.string();
  }
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(source))
    if (entry.path().extension() == ".pt") found.push_back(entry.path().string());
  if (found.size() == 1) return found[0];
  throw Error("{} has {} checkpoints: name one of its .pt files", source, found.empty() ? "no" : "several");
}

bool checkpoint_has(const std::string& source, const std::function<bool(const PickleValue& root)>& like) {
  try {
    const std::string path = checkpoint_path(source);
    if (fs::path(path).extension() != ".pt") return false;
    const TorchFile file = open_torch(path);
    return like(*file.pickle.root);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace dragoman::internal
