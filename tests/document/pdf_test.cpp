// PDF: files that are made here, and lines at places.
#include <gtest/gtest.h>

#include "base/random.h"
#include "document/made_pdf.h"
#include "document/pdf/paragraphs.h"
#include "document/rotated.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using Texts = std::vector<std::string>;

// Lines below each other, of a column.
std::vector<Shown> column(double left, double top, const Texts& lines) {
  std::vector<Shown> shown;
  for (const std::string& line : lines) shown.push_back({left, top += 12, 10, line});
  return shown;
}

class Pdf : public testing::Test {
 protected:
  void SetUp() override {
    if (!reads_pdf) GTEST_SKIP() << "this build has no poppler";
  }
};

TEST_F(Pdf, ComesOutAsParagraphs) {
  const std::string file = pdf_file({{{50, 40, 20, "The title of it"},
                                      {50, 80, 10, "A paragraph of several lines, of which the sec-"},
                                      {50, 92, 10, "ond one is not the last: well-known words are"},
                                      {50, 104, 10, "divided, and others are not."},
                                      {50, 130, 10, "Another begins behind a gap, where a well-"},
                                      {50, 142, 10, "known word keeps its hyphen."}}});
  const Document document = read_as("pdf", file);
  EXPECT_EQ(texts_of(document),
            (Texts{"The title of it",
                   "A paragraph of several lines, of which the second one is not the last: well-known words "
                   "are divided, "
                   "and others are not.",
                   "Another begins behind a gap, where a well-known word keeps its hyphen."}));
  EXPECT_TRUE(identity_of(document).starts_with("The title of it\n\nA paragraph"));
  EXPECT_TRUE(rotation_of(document).starts_with("Gur gvgyr bs vg\n\nN cnentencu"));
  EXPECT_EQ(document_format("pdf", "").written_as, "text");
}

TEST_F(Pdf, IsReadColumnByColumnAndOverPages) {
  std::vector<Shown> left = column(
      50, 100,
      {"The left column has lines that", "are all as wide as it, and the", "last of its words goes on in"});
  const std::vector<Shown> right = column(
      320, 100,
      {"the other one, which is beside", "it, and which goes on with the", "words that the next page has"});
  left.insert(left.end(), right.begin(), right.end());
  const std::vector<Shown> next = {{50, 100, 10, "at its top. That is the end."}, {50, 130, 10, "New here."}};
  EXPECT_EQ(
      texts_of(read_as("pdf", pdf_file({left, next}))),
      (Texts{"The left column has lines that are all as wide as it, and the last of its words goes on in the "
             "other one, which is beside it, and which goes on with the words that the next page has at its "
             "top. "
             "That is the end.",
             "New here."}));
}

TEST_F(Pdf, LacksHeadersAndPageNumbers) {
  std::vector<std::vector<Shown>> pages;
  for (int page = 1; page <= 3; ++page)
    pages.push_back({{50, 30, 10, "A header"},
                     {50, 100, 10, fmt::format("Text of page {} and no other", page * page)},
                     {280, 780, 10, fmt::format("- {} of 3 -", page)}});
  EXPECT_EQ(
      texts_of(read_as("pdf", pdf_file(pages))),
      (Texts{"Text of page 1 and no other", "Text of page 4 and no other", "Text of page 9 and no other"}));
}

TEST_F(Pdf, AreRefusedInASentence) {
  EXPECT_NE(refusal("pdf", "").find("not a PDF"), std::string::npos);
  EXPECT_NE(refusal("pdf", "%PDF-1.4\nnothing").find("not a PDF, or it is damaged"), std::string::npos);
  EXPECT_NE(refusal("pdf", pdf_file({{}, {}})).find("has no text"), std::string::npos);
  const std::string key(64, '0');
  const std::string locked =
      fmt::format("/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{0}> /U <{0}> >>", key);
  EXPECT_NE(refusal("pdf", pdf_file({{{50, 50, 10, "Text"}}}, locked)).find("is encrypted"),
            std::string::npos);
}

TEST(PdfWithoutPoppler, IsRefusedInASentence) {
  if (reads_pdf) GTEST_SKIP() << "this build has poppler";
  EXPECT_NE(refusal("pdf", "%PDF-1.4\n").find("built without poppler"), std::string::npos);
}

PdfLine line_at(double left, double top, const std::string& text) {
  const double width = 5 * static_cast<double>(code_point_count(text));
  return {.text = text,
          .left = left,
          .top = top,
          .right = left + width,
          .bottom = top + 10,
          .size = 10,
          .first_width = 5 * static_cast<double>(text.find(' '))};
}

// Lines from the top of a page on.
Texts paragraphs_of(const Texts& lines, const std::vector<double>& indents = {}) {
  std::vector<PdfLine> placed;
  for (size_t i = 0; i < lines.size(); ++i)
    placed.push_back(line_at(i < indents.size() ? indents[i] : 0, 12.0 * static_cast<double>(i), lines[i]));
  return pdf_paragraphs(placed);
}

TEST(PdfParagraphs, BeginWhereALineIsIndentedOrTheOneBeforeItIsShort) {
  const std::string full = "Words that go to the margin of it", more = "go to the margin of it, these also";
  EXPECT_EQ(paragraphs_of({full, more, full}), (Texts{full + " " + more + " " + full}));
  EXPECT_EQ(paragraphs_of({full, "A short line.", full}).size(), 2u);
  EXPECT_EQ(paragraphs_of({full, more, full}, {0, 0, 12}).size(), 2u);
  EXPECT_EQ(paragraphs_of({full, more, full}, {12, 0, 0}).size(), 1u);  // the first line of a paragraph
}

TEST(PdfParagraphs, BeginWithTheItemsOfLists) {
  EXPECT_EQ(paragraphs_of({"• one item of a list, which is long", "and has two lines", "• another item"},
                          {0, 10, 0}),
            (Texts{"• one item of a list, which is long and has two lines", "• another item"}));
  EXPECT_EQ(paragraphs_of({"1. one item of a list, which is it", "2. another item"}).size(), 2u);
  EXPECT_EQ(paragraphs_of({"Words that go to the margin: page", "2. does not begin a list there."}).size(),
            1u);
}

TEST(PdfParagraphs, JoinLinesOfScriptsWithoutSpaces) {
  EXPECT_EQ(paragraphs_of({"图书馆成立于十九世纪，", "由市民建立"}).size(), 1u);
  EXPECT_EQ(paragraphs_of({"图书馆成立于十九世纪", "由市民建立"}), Texts{"图书馆成立于十九世纪由市民建立"});
}

// Each letter of each word is in the paragraphs, whatever stands where, since no two pages have a line in common.
TEST(PdfParagraphs, HaveAllWords) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    std::vector<PdfPage> pages(1 + random.below(3));
    std::string all;
    for (PdfPage& page : pages) {
      for (uint64_t words = random.below(40); words > 0; --words) {
        const std::string text = {'w', static_cast<char>('a' + all.size() / 3 % 26),
                                  static_cast<char>('a' + all.size() / 3 / 26)};
        const auto left = static_cast<double>(random.below(500)),
                   top = static_cast<double>(random.below(700));
        page.push_back({text, left, top, left + 25, top + 10, 10});
        all += text;
      }
    }
    std::string joined;
    for (const std::string& paragraph : pdf_paragraphs(pdf_lines(pages)))
      for (const char c : paragraph)
        if (c != ' ') joined += c;
    ASSERT_EQ(joined, all) << seed;
  }
}

}  // namespace
}  // namespace dragoman::internal
