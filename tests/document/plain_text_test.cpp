#include <gtest/gtest.h>

#include "document/identity.h"

namespace dragoman::internal {
namespace {

TEST(PlainText, ParagraphsAreTranslatedAndSpaceStays) {
  const std::string file =
      "\xEF\xBB\xBF  One line.\r\n\r\n\tAnother one, with  two spaces. \n---\n42\n\nno end";
  const Document document = read_as("text", file);
  ASSERT_EQ(document.segments.size(), 3u);
  EXPECT_EQ(document.segments[1].text, "Another one, with  two spaces.");
  EXPECT_EQ(identity_of(document), file);
  EXPECT_EQ(document.write(std::vector<std::string>{"Une.", "Deux.", "fin"}),
            "\xEF\xBB\xBF  Une.\r\n\r\n\tDeux. \n---\n42\n\nfin");
}

TEST(PlainText, Utf16StaysSoInTextsAndTables) {
  const auto wide = [](std::string_view ascii) {
    std::string bytes = "\xFF\xFE";
    for (const char c : ascii) (bytes += c) += '\0';
    return bytes;
  };
  for (const char* const format : {"text", "csv", "tsv"}) {
    const std::string file = wide("1\r\nOne line of text\r\nanother one of it\r\n");
    const Document document = read_as(format, file);
    ASSERT_EQ(document.segments.size(), 2u) << format;
    EXPECT_EQ(identity_of(document), file);
    EXPECT_EQ(document.write(std::vector<std::string>{"Une", "Deux"}), wide("1\r\nUne\r\nDeux\r\n"));
  }
}

TEST(PlainText, NamesTheLineThatIsNotUtf8) {
  EXPECT_TRUE(refusal("text",
                      "good\nb\xE9"
                      "d\n")
                  .starts_with("test.text: line 2 is not valid UTF-8"));
}

}  // namespace
}  // namespace dragoman::internal
