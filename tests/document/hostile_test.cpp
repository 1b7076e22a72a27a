// Files that were made to take memory or time without end, or to be read wrongly: each is read, or refused, at once.
#include <utility>

#include <gtest/gtest.h>

#include "base/error.h"
#include "document/identity.h"
#include "document/in_place.h"
#include "document/made_pdf.h"
#include "document/packed.h"
#include "document/pdf/pages.h"
#include "document/random_words.h"
#include "document/rotated.h"

namespace dragoman::internal {
namespace {

TEST(HostileFiles, UnitsOfXliffInsideEachOther) {
  const std::string nested = "<trans-unit id=\"1\"><trans-unit id=\"2\"></trans-unit></trans-unit>";
  const std::string file = "<xliff version=\"1.2\"><file><body>" + repeated(nested, 10'000) +
                           "<group translate=\"yes\"><note>x</note></group>"
                           "<trans-unit id=\"3\"><source>One car</source></trans-unit></body></file></xliff>";
  const Document document = read_as("xliff", file);
  ASSERT_EQ(document.segments.size(), 1U);
  EXPECT_EQ(document.segments[0].text, "One car");
}

TEST(HostileFiles, ManyLinksOnALineOfMarkdown) {
  const std::string file = "a|b\n-|-\n1|2\n\n[" + repeated("]:", 50'000) + "\n";
  EXPECT_EQ(identity_of(read_as("markdown", file)), file);
}

TEST(HostileFiles, ARunWithALongDescriptionAndManyItems) {
  const auto file = [](size_t attribute, size_t tabs) {
    return docx_with(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body><w:p>"
        "<w:r><w:rPr><w:x w:val=\"" +
        std::string(attribute, 'x') + "\"/></w:rPr>" + repeated("<w:tab/>", tabs) +
        "<w:t>One car</w:t></w:r></w:p></w:body></w:document>");
  };
  EXPECT_EQ(read_as("docx", file(500, 1000)).segments.size(), 1U);
  EXPECT_THROW(read_as("docx", file(500'000, 60'000)), Error);
}

// What they copy is limited, too.
TEST(HostileFiles, ARunWithALongTagAndManyItems) {
  const auto file = [](size_t attribute, size_t tabs) {
    return docx_with(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body><w:p>"
        "<w:r w:x=\"" +
        std::string(attribute, 'x') + "\">" + repeated("<w:tab/>", tabs) +
        "<w:t>One car</w:t></w:r></w:p></w:body></w:document>");
  };
  EXPECT_EQ(read_as("docx", file(500, 1000)).segments.size(), 1U);
  EXPECT_NE(refusal("docx", file(500'000, 1000)).find("many times as large as the file"), std::string::npos);
}

TEST(HostileFiles, ARunWithALongTagAndManyLines) {
  const auto file = [](size_t attribute, size_t lines) {
    return packed({{"[Content_Types].xml",
                    "<Types><Override PartName=\"/xl/sharedStrings.xml\" ContentType=\"application/"
                    "vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml\"/></Types>"},
                   {"xl/sharedStrings.xml",
                    "<sst xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><si><r x=\"" +
                        std::string(attribute, 'x') + "\"><t>One car" + repeated("\nOne car", lines) +
                        "</t></r></si></sst>"}});
  };
  EXPECT_FALSE(read_as("xlsx", file(500, 1000)).segments.empty());
  EXPECT_NE(refusal("xlsx", file(500'000, 1000)).find("many times as large as the file"), std::string::npos);
}

// Each of many closing codes has no partner among many open ones.
TEST(HostileFiles, CodesOfXliffWithoutPartners) {
  std::string codes;
  for (int i = 0; i < 150'000; ++i) codes += "<bx id=\"a" + std::to_string(i) + "\"/>";
  const std::string file = "<xliff version=\"1.2\"><file><body><trans-unit id=\"1\"><source>One car" + codes +
                           repeated("<ex id=\"b\"/>", 150'000) +
                           "</source></trans-unit></body></file></xliff>";
  EXPECT_EQ(read_as("xliff", file).segments.size(), 1U);
}

TEST(HostileFiles, ALineOfManyNumbersInAPdf) {
  if (!reads_pdf) GTEST_SKIP() << "this build has no poppler";
  const std::string numbers = repeated("1 2 3 4 5 6 7 8 9 ", 5000);
  const std::string file = pdf_file({{{50, 40, 10, numbers}, {50, 60, 10, "One car"}}});
  EXPECT_NO_THROW(read_as("pdf", file));
}

TEST(HostileFiles, ACellOfCsvWithManySpaces) {
  const std::string file = "id,text\n1," + repeated("1 ", 500'000) + "\n2,One car\n";
  EXPECT_EQ(identity_of(read_as("csv", file)), file);
}

// A list of words, each on a line of its own, is one message.
TEST(HostileFiles, AMessageOfManyLines) {
  const Document document = read_as("json", "{\"words\": \"" + repeated("a\\nbee\\nsea\\n", 3000) + "\"}");
  EXPECT_GT(document.segments.size(), 400U);
  EXPECT_EQ(in_random_words(document, 1).substr(0, 10), "{\"words\": ");
}

TEST(HostileFiles, AMessageOfManyWordsOnALine) {
  const Document document = read_as("json", "{\"words\": \"" + repeated("ab ", 250'000) + "\"}");
  EXPECT_EQ(document.segments.size(), 1U);
}

// Of tags that are too deep only those outside are pairs, around what is between them in the file.
TEST(HostileFiles, TagsOfAMessageInsideEachOther) {
  const std::string file =
      "{\"a\": \"a " + repeated("<b>", 50'000) + "x</b> y" + repeated("</b>", 49'999) + " z\"}";
  const Document document = read_as("json", file);
  ASSERT_EQ(document.segments.size(), 1U);
  const DocumentSegment& segment = document.segments[0];
  EXPECT_EQ(segment.text, "a x y z");
  int spans = 0;
  for (const DocumentMark& mark : segment.marks) {
    if (mark.kind != DocumentMark::Kind::span) continue;
    ++spans;
    EXPECT_EQ(mark.place.of(segment.text), "x y");
  }
  EXPECT_EQ(spans, 100);
  EXPECT_EQ(identity_of(document), file);
}

// To find the places of a sentence's line breaks takes the square of its words.
TEST(HostileFiles, ASentenceOfManyWordsOnTwoLines) {
  const auto segments = [](size_t words) {
    const std::string line = repeated("ab ", words);
    const std::string json = "{\"a\": \"" + line + "\\n" + line + "\"}",
                      srt = "1\n00:00:01,000 --> 00:00:02,000\n" + line + "\n" + line + "\n";
    return std::pair(read_as("json", json).segments.size(), read_as("srt", srt).segments.size());
  };
  EXPECT_EQ(segments(100), std::pair(size_t{1}, size_t{1}));
  EXPECT_EQ(segments(1000), std::pair(size_t{2}, size_t{2}));
}

TEST(HostileFiles, BlocksOfYamlWithoutLines) {
  for (const std::string_view block : {"a: |\n", "a: >\n"}) {
    const std::string file = repeated(block, 200'000);
    EXPECT_TRUE(identity_of(read_as("yaml", file)) == file) << block;
  }
}

TEST(HostileFiles, AStringOfYamlWithManyBlanks) {
  const Document document = read_as("yaml", "a: \"One" + std::string(100'000, ' ') + "car\"\n");
  EXPECT_EQ(document.segments.size(), 1U);
}

// To cmark its last line is another character than to HTML.
TEST(HostileFiles, AParagraphOfMarkdownThatIsReadInAnotherWay) {
  const std::string file = repeated("a\n", 20'000) + "&#128;\n";
  EXPECT_EQ(identity_of(read_as("markdown", file)), file);
}

TEST(HostileFiles, MarkupOfRestructuredTextThatNeverEnds) {
  const std::vector<std::string> files = {repeated("*a ", 200'000) + "x*_", repeated("`a ", 200'000) + "x`_x",
                                          repeated("= =\nx\n\n", 60'000), repeated(".. _`a\n\n", 60'000)};
  for (const std::string& file : files)
    EXPECT_EQ(identity_of(read_as("rst", file)), file) << file.substr(0, 9);
}

TEST(HostileFiles, PlaceholdersOfAndroidThatNeverEnd) {
  const std::string file = "<resources xmlns:xliff=\"urn:x\"><string name=\"a\"><![CDATA[" +
                           repeated("<xliff:g ", 60'000) + "]]></string></resources>";
  EXPECT_EQ(identity_of(read_as("android", file)), file);
}

TEST(HostileFiles, PluralsOfPoThatAreLong) {
  const std::string file =
      "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=2; plural=n" + repeated("+n", 500'000) +
      ";\\n\"\n\nmsgid \"One car\"\nmsgid_plural \"%d cars\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n";
  EXPECT_FALSE(read_as("po", file).segments.empty());
}

// Its bytes are those of ASCII, with escapes between.
TEST(HostileFiles, APageInAnEncodingOfSevenBits) {
  const Document document = read_as("html", "<meta charset=\"iso-2022-jp\"><p>\x1b$B$3$s$K$A$O\x1b(B</p>");
  ASSERT_EQ(document.segments.size(), 1U);
  EXPECT_EQ(document.segments[0].text, "こんにちは");
}

}  // namespace
}  // namespace dragoman::internal
