// The families of published models, and how a model of each is downloaded.
//
// Data from the network is not trusted: names in an index are checked before they become paths, and every file
// has a size limit.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "hub/download.h"

namespace dragoman::internal {

struct Family;

// The words that name a model: "opus-mt-en-fr", "OWNER/NAME", or "argos", "en", "fr".
struct PublishedModel {
  const Family* family;
  std::string name;      // OWNER/NAME
  std::string from, to;  // the languages, in families that are chosen by them

  std::string folder() const;  // the short name of a folder: "opus-mt-en-fr", "argos-en-fr"
  std::string place() const;   // a folder of its own, among all models: "Helsinki-NLP/opus-mt-en-fr"
};

// Throws a UsageError that explains how models are named.
PublishedModel published_model(const std::vector<std::string>& words);

struct HubOptions {
  std::string mirror;  // instead of the public addresses; empty: those
  std::string token;   // of a user of Hugging Face's hub
  DownloadPolicy policy = {};
  // Called when all small files have been downloaded, before the large ones: may throw.
  std::function<void(const std::string& folder)> before_weights = {};
};

// Downloads for every family.
class Hub {
 public:
  explicit Hub(HubOptions options);

  const HubOptions& options() const { return options_; }
  Downloader& downloader() { return downloader_; }

  // A pattern of the catalogue with its {names} replaced, on the mirror if there is one.
  std::string address(std::string pattern,
                      const std::vector<std::pair<std::string_view, std::string>>& values = {}) const;
  // Downloads it and parses it. An Error if it is not valid JSON.
  nlohmann::json index(const std::string& address, const std::string& path);
  // A file that must exist.
  void require(const FileToGet& file);

 private:
  HubOptions options_;
  Downloader downloader_;
};

struct Family {
  const char* name;         // "argos"
  const char* usage;        // how a model is named: "argos FROM TO"
  const char* description;  // "Argos Translate"
  // Into the folder. Returns what can be imported: the folder, or something in it.
  std::string (*download)(Hub& hub, const PublishedModel& model, const std::string& folder);
  // As a user types them; an index is downloaded into the folder.
  std::vector<std::string> (*names)(Hub& hub, const std::string& folder);
};

std::span<const Family> families();

std::string download_huggingface(Hub& hub, const PublishedModel& model, const std::string& folder);
std::string download_argos(Hub& hub, const PublishedModel& model, const std::string& folder);
std::string download_firefox(Hub& hub, const PublishedModel& model, const std::string& folder);
std::vector<std::string> names_of_huggingface(Hub& hub, const std::string& folder);
std::vector<std::string> names_of_argos(Hub& hub, const std::string& folder);
std::vector<std::string> names_of_firefox(Hub& hub, const std::string& folder);

// The file name at the end of a path or URL from an index; an Error if it is not a valid name.
std::string checked_name(const std::string& path, const std::string& index);

}  // namespace dragoman::internal
