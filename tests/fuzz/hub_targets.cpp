#include "base/json.h"
#include "fuzz/readers.h"
#include "fuzz/reading.h"
#include "hub/families.h"
#include "hub/indexes.h"

namespace dragoman::internal {
namespace {

const std::string address = "https://example.org/index.json";

// As Hub::index does.
nlohmann::json parsed(std::string_view bytes) {
  try {
    return parse_json(std::string(bytes));
  } catch (const nlohmann::json::exception& error) {
    throw Error("{}", error.what());
  }
}

// A name that leads out of the folder must be refused.
void use_name(const std::string& path) {
  const std::string name = checked_name(path, "the index");
  CHECK(!name.empty() && name != "." && name != ".." && name.find('/') == name.npos, "{}", name);
}

}  // namespace

std::string read_argos_index(std::string_view bytes) {
  return refusal([&] {
    for (const ArgosPackage& package : argos_packages(parsed(bytes), address))
      if (!package.link.empty()) use_name(package.link);
  });
}

std::vector<std::string> argos_indexes() {
  return {R"([{"type": "translate", "from_code": "en", "to_code": "fr", "package_version": "1.9",
 "links": ["ipfs://x", "https://argos-net.com/v1/translate-en_fr-1_9.argosmodel"]},
 {"type": "sbd", "code": "en"}, {"from_code": "de", "to_code": "en", "links": []}])"};
}

std::string read_firefox_index(std::string_view bytes) {
  return refusal([&] {
    const nlohmann::json index = parsed(bytes);
    firefox_names(index, address);
    for (const FirefoxFile& file : firefox_files(index, address, "en", "fr")) {
      use_name(file.path);
      CHECK(file.max_bytes <= max_firefox_bytes, "{} bytes", file.max_bytes);
    }
  });
}

std::vector<std::string> firefox_indexes() {
  return {
      R"({"baseUrl": "https://example.org", "models": {"en-fr": [{"releaseStatus": "Nightly", "files": {}},
 {"releaseStatus": "Release", "files": {"model": {"path": "models/en-fr/model.enfr.intgemm.alphas.bin.gz",
 "uncompressedSize": 17140961, "uncompressedHash": "00aa"}, "lexicalShortlist": {"path": "models/en-fr/lex.bin.gz"},
 "vocab": {"path": "models/en-fr/vocab.enfr.spm.gz", "uncompressedSize": null}}}], "de-en": []}})"};
}

}  // namespace dragoman::internal
