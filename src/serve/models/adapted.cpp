#include "serve/models/adapted.h"

#include <sys/stat.h>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "model/checksum.h"
#include "serve/models/named_folder.h"

namespace dragoman::internal {
namespace {

Adaptation::Bleu bleu_from_json(const nlohmann::json& scores, const char* what) {
  return {scores.at("before").at(what), scores.at("after").at(what)};
}

std::string time_of(const std::string& file) {
  struct stat found = {};
  if (stat(file.c_str(), &found) != 0) return {};
  return fmt::format("{:%FT%TZ}", fmt::gmtime(found.st_mtim.tv_sec));
}

}  // namespace

std::string adapted_folder(const std::string& base, const std::string& in) {
  return (in.empty() ? without_final_slashes(base) : in + "/" + last_part(base)) + ".adapted";
}

Adaptation read_adaptation(const std::string& adapted, const std::string& base) {
  const std::string path = adapted + "/adaptation.json";
  try {
    const nlohmann::json json = parse_json(read_file(path));
    if (json.value("model", "") != model_checksum(base))
      throw Error("it was made of another model than {} is now", base);
    return {.time = time_of(path),
            .segments = json.at("segments"),
            .of_segments = bleu_from_json(json.at("scores"), "segments"),
            .of_general = bleu_from_json(json.at("scores"), "general")};
  } catch (const nlohmann::json::exception&) {
    throw Error("{} is damaged, or of another version", path);
  }
}

FolderState state_of_both(const std::string& base, const std::optional<std::string>& in) {
  return in ? state_of_all({base, adapted_folder(base, *in)}) : state_of(base);
}

}  // namespace dragoman::internal
