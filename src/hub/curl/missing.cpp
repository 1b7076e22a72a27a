// For a build without libcurl or OpenSSL.
#include "hub/http.h"
#include "hub/sha256.h"

namespace dragoman::internal {

struct Http::Session {};

Http::Http(HttpTimes) {
  throw Error(
      "this program was built without libcurl and OpenSSL, so it cannot download: install "
      "libcurl4-openssl-dev and "
      "libssl-dev and build again, or download the model yourself and use dragoman import");
}
Http::~Http() = default;

HttpHead Http::get(const HttpRequest&, const OnHead&, const OnData&) { return {}; }

std::string sha256_of_file(const std::string&) { return {}; }

}  // namespace dragoman::internal
