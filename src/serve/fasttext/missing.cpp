// Instead of model.cpp, where the build has not found fastText.
#include "base/error.h"
#include "serve/fasttext.h"

namespace dragoman::internal {

std::unique_ptr<LanguageIdentifier> read_fasttext(const std::string&) {
  throw Error(
      "this program cannot detect languages: it was built without fastText; install libfasttext-dev and "
      "build "
      "it again");
}

}  // namespace dragoman::internal
