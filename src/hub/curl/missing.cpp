// For a build without libcurl or OpenSSL.
#include "hub/http.h"
#include "hub/sha256.h"

namespace dragoman::internal {

struct Http::Session {};

Http::Http(HttpTimes) {
  throw Error(
      "this build of Dragoman cannot download: libcurl or OpenSSL was missing when it was made; install them and "
      "build it again, or download the model otherwise and use dragoman import");
}
Http::~Http() = default;

HttpHead Http::get(const HttpRequest&, const OnHead&, const OnData&) { return {}; }

std::string sha256_of_file(const std::string&) { return {}; }

}  // namespace dragoman::internal
