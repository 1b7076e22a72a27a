// Models of Hugging Face's hub: OWNER/NAME.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/quotes.h"
#include "hub/catalogue.h"
#include "hub/families.h"

namespace dragoman::internal {
namespace {

constexpr uint64_t max_small_file_bytes = 1 << 27;  // NLLB's tokenizer.json has 17 MB
constexpr size_t max_shards = 1000;

std::string short_name(const std::string& name) {
  for (const auto& [beginning, meaning] : catalogue().huggingface.short_names)
    if (name.starts_with(meaning)) return beginning + name.substr(meaning.size());
  return name;
}

// A token is a password: without encryption it is sent only to this machine.
bool may_send_token(const std::string& url) {
  return url.starts_with("https://") || url.starts_with("http://127.0.0.1:") ||
         url.starts_with("http://localhost:");
}

class HuggingFaceModel {
 public:
  HuggingFaceModel(Hub& hub, const std::string& name, const std::string& folder)
      : hub_(hub), name_(name), folder_(folder) {}

  DownloadResult get(const std::string& file, uint64_t max_bytes = max_download_bytes) {
    const std::string url = hub_.address(catalogue().huggingface.file, {{"model", name_}, {"file", file}});
    return hub_.downloader().get({.url = url,
                                  .path = folder_ + "/" + file,
                                  .token = may_send_token(url) ? hub_.options().token : "",
                                  .max_bytes = max_bytes});
  }

  void get_small_files() {
    const auto& files = catalogue().huggingface;
    for (const std::string& file : files.required) {
      const DownloadResult got = get(file, max_small_file_bytes);
      if (got != DownloadResult::file) refuse(file, got);
    }
    for (const std::string& file : files.optional)
      if (get(file, max_small_file_bytes) == DownloadResult::denied) refuse(file, DownloadResult::denied);
  }

  void get_weights() {
    for (const std::string& file : catalogue().huggingface.weights) {
      const DownloadResult got = get(file);
      if (got == DownloadResult::denied) refuse(file, got);
      if (got == DownloadResult::missing) continue;
      if (file.ends_with(".index.json")) get_shards(file);
      return;
    }
    throw Error("{} has no weights that can be imported: no {}", name_,
                fmt::join(catalogue().huggingface.weights, ", "));
  }

 private:
  static std::string shard_name(const std::string& name, const std::string& index) {
    if (checked_name(name, index) == name) return name;
    throw Error("{} contains an invalid file name: {}", index, in_quotes(name));
  }

  void get_shards(const std::string& index) {
    std::set<std::string> shards;
    try {
      const nlohmann::json all = parse_json(read_file(folder_ + "/" + index));
      for (const auto& [tensor, file] : all.at("weight_map").items())
        shards.insert(shard_name(file.get<std::string>(), index));
    } catch (const nlohmann::json::exception& error) {
      throw Error("{}/{} is not an index of weights: {}", folder_, index, reason_of(error));
    }
    if (shards.size() > max_shards)
      throw Error("{}/{} lists {} files, the limit is {}", folder_, index, shards.size(), max_shards);
    for (const std::string& shard : shards) {
      const DownloadResult got = get(shard);
      if (got != DownloadResult::file) refuse(shard, got);
    }
  }

  // The hub also answers 401 for a model that does not exist, so as not to reveal private ones.
  [[noreturn]] void refuse(const std::string& file, DownloadResult got) const {
    std::vector<std::string> known = catalogue().huggingface.known;
    std::ranges::transform(known, known.begin(), short_name);
    if (got == DownloadResult::denied)
      throw Error(
          "{} cannot be downloaded: there is no such model{} or it is open only to users who have accepted "
          "its terms at https://huggingface.co/{}: then set HF_TOKEN",
          name_, suggestion(short_name(name_), known), name_);
    throw Error("{} has no {}, or there is no such model{}", name_, file,
                suggestion(short_name(name_), known));
  }

  Hub& hub_;
  std::string name_, folder_;
};

}  // namespace

std::string download_huggingface(Hub& hub, const PublishedModel& wanted, const std::string& folder) {
  HuggingFaceModel model(hub, wanted.name, folder);
  model.get_small_files();
  if (hub.options().before_weights) hub.options().before_weights(folder);
  model.get_weights();
  return folder;
}

std::vector<std::string> names_of_huggingface(Hub&, const std::string&) {
  std::vector<std::string> names = catalogue().huggingface.known;
  std::ranges::transform(names, names.begin(), short_name);
  return names;
}

}  // namespace dragoman::internal
