#include "serve/fasttext.h"

#include <filesystem>

#include "base/checksum.h"
#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {
namespace {

constexpr uintmax_t size_of_detector = 938'013;
constexpr std::string_view checksum_of_detector = "d958bea1490fb5da";

}  // namespace

std::unique_ptr<LanguageIdentifier> open_fasttext(const std::string& file) {
  const std::string what = " is not fastText's lid.176.ftz: tools/get_detector downloads it";
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(file, error);
  if (!error && size != size_of_detector) throw Error(file + what);
  const std::string bytes = read_file(file);
  if (checksum_of(bytes) != checksum_of_detector) throw Error(file + what);
  return read_fasttext(bytes);
}

}  // namespace dragoman::internal
