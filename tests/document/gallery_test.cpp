// Files that other programs wrote: tests/golden/make_document_gallery.py. With DRAGOMAN_DOCUMENTS=FOLDER in the
// environment their translations are written there, for tests/golden/check_documents.py.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "document/identity.h"
#include "document/translation.h"

namespace dragoman::internal {
namespace {

const std::filesystem::path gallery = std::filesystem::path(DRAGOMAN_SOURCE_DIR) / "tests/document/gallery";

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Document read_file(const std::filesystem::path& path, std::string_view bytes) {
  return document_format("", path.string()).read(bytes, {.name = path.filename(), .from = "en", .to = "fr"});
}

std::vector<std::string> texts(const Document& document) {
  std::vector<std::string> texts;
  for (const DocumentSegment& segment : document.segments) texts.push_back(segment.text);
  return texts;
}

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(gallery)) files.push_back(file.path());
  std::ranges::sort(files);
  return files;
}

class Gallery : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Gallery, ComesBackWithItsSegmentsTranslated) {
  const std::string bytes = contents(GetParam());
  const Document document = read_file(GetParam(), bytes);
  ASSERT_FALSE(document.segments.empty());
  const std::string translated = in_upper_case(document);
  if (const char* const folder = std::getenv("DRAGOMAN_DOCUMENTS"))
    std::ofstream(folder / GetParam().filename(), std::ios::binary) << translated;
  // Files with translations beside the texts are translated then, and have no more to translate.
  if (GetParam().extension() == ".xlf" || GetParam().extension() == ".tmx") {
    EXPECT_TRUE(read_file(GetParam(), translated).segments.empty());
    return;
  }
  EXPECT_EQ(identity_of(document), bytes);
  std::vector<std::string> expected;
  for (const std::string& text : texts(document)) expected.push_back(upper_case(text));
  EXPECT_EQ(texts(read_file(GetParam(), translated)), expected);
  EXPECT_EQ(texts(read_file(GetParam(), in_other_words(document))).size(), document.segments.size());
}

INSTANTIATE_TEST_SUITE_P(Of, Gallery, testing::ValuesIn(files()), [](const auto& test) {
  std::string name = test.param.filename();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace dragoman::internal
