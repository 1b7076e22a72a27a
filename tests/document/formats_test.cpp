// Documents under the names of other formats.
#include "document/formats.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {
namespace {

const std::filesystem::path samples_folder =
    std::filesystem::path(DRAGOMAN_SOURCE_DIR) / "tests/document/gallery";

struct Sample {
  std::string_view format;
  std::string bytes;
};

std::vector<Sample> samples() {
  std::vector<Sample> all = {
      {"html", "<!DOCTYPE html>\n<p>Hello"},
      {"html", "<html lang=en><body>Hello</body></html>"},
      {"xliff", "<?xml version=\"1.0\"?>\n<!-- note -->\n<xliff version=\"1.2\"><file/></xliff>"},
      {"tmx", "<?xml version=\"1.0\"?><!DOCTYPE tmx SYSTEM \"tmx14.dtd\"><tmx version=\"1.4\"/>"},
      {"po", "# a comment\n\nmsgid \"\"\nmsgstr \"\"\n"},
      {"json", "{\n  \"a\": \"Hello\"\n}\n"},
      {"json", R"({"sourceLanguage": "Source language", "strings": "Strings"})"},
      {"pdf", "%PDF-1.7\n"},
      {"xcstrings", R"({"sourceLanguage": "en", "strings": {}})"},
      {"srt",
       "\xEF\xBB\xBF"
       "1\r\n00:00:01,000 --> 00:00:02,000\r\nHello\r\n"},
      {"vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n"}};
  for (const auto& entry : std::filesystem::directory_iterator(samples_folder)) {
    const std::string ending = entry.path().extension();
    all.push_back({document_format("", "x" + ending).name, read_file(entry.path())});
  }
  return all;
}

TEST(Formats, AFormatWithoutAReaderSaysWhatToSaveItAs) {
  try {
    document_format("", "letter.DOC");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "letter.DOC: .doc files cannot be read: save the document as .docx");
  }
}

TEST(Formats, ContentsCountMoreThanNames) {
  for (const Sample& sample : samples()) {
    const DocumentFormat& format = document_format(sample.format, "");
    for (const DocumentFormat& other : document_formats()) {
      if (other.endings.empty()) continue;  // told from contents alone
      const bool is_text = other.name == "text" || other.name == "markdown";
      const bool is_yaml_too = other.name == "yaml" && sample.format == "json";
      const std::string file = "x" + std::string(other.endings[0]);
      const bool is_package = sample.bytes.starts_with("PK");
      const DocumentFormat& found = document_format("", file, sample.bytes);
      EXPECT_EQ(found.read, (is_text && !is_package) || is_yaml_too ? other.read : format.read)
          << sample.format << " " << file;
    }
  }
}

TEST(Formats, YamlMayBeginAsJsonDoes) {
  const std::string flow = "{\"a\": One car}\n";
  const Document document = document_format("", "x.yaml", flow).read(flow, {.name = "x.yaml"});
  ASSERT_EQ(document.segments.size(), 1U);
  EXPECT_EQ(document.segments[0].text, "One car");
}

TEST(Formats, WhatIsNotCertainIsAsItsNameSays) {
  for (const std::string_view bytes : {"", "PK", "Hello", "<p>Hello</p>", "<resources/>", "[1, 2]", "{a}",
                                       "msgid", "12\n3", "# a\n", "<!--", "PK\3\4 a damaged file"})
    EXPECT_EQ(document_format("", "x.docx", bytes).name, "docx") << bytes;
}

TEST(Formats, AFormatThatIsGivenIsTheFormatUnlessItCannotBe) {
  EXPECT_EQ(document_format("html", "x.po", "msgid \"a\"\nmsgstr \"\"\n").name, "html");
  EXPECT_EQ(document_format("xml", "x.xml", "<xliff/>").name, "xml");
  const std::string docx = read_file(samples_folder / "python-docx.docx");
  try {
    document_format("odf", "x.odt", docx);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "x.odt: this file has the format docx, not odf: give that one");
  }
}

}  // namespace
}  // namespace dragoman::internal
