#include <gtest/gtest.h>

#include "document/generated_markdown.h"
#include "document/identity.h"
#include "document/in_place.h"
#include "document/markdown_tree.h"

namespace dragoman::internal {
namespace {

using Texts = std::vector<std::string>;

Texts markdown_texts(const std::string& markdown) {
  Texts texts;
  for (const DocumentSegment& segment : read_as("markdown", markdown).segments) texts.push_back(segment.text);
  return texts;
}

std::string capitals_of(const std::string& markdown) { return in_capitals(read_as("markdown", markdown)); }

// The file with every segment replaced by this text.
std::string filled_with(const std::string& text, const std::string& markdown) {
  const Document document = read_as("markdown", markdown);
  std::vector<std::string> rendered;
  for (const DocumentSegment& segment : document.segments) rendered.push_back(render(segment, text, {}));
  return document.write(rendered);
}

TEST(Markdown, GeneratedFilesComeBackAndKeepTheirTree) {
  for (uint32_t seed = 0; seed < 10'000; ++seed) {
    const std::string file = GeneratedMarkdown(seed).tame();
    const Document document = read_as("markdown", file);
    ASSERT_EQ(identity_of(document), file) << seed;
    const std::string capitals = in_capitals(document);
    const MarkdownTree after = markdown_tree(capitals);
    ASSERT_EQ(markdown_tree(file).flat, after.flat) << seed << "\n" << file << "\n-----\n" << capitals;
    ASSERT_EQ(after.small_letters, "") << seed << "\n" << file << "\n-----\n" << capitals;
  }
}

// Where some of a run of * or _ is markup and some is text, a backslash between them may change which.
TEST(Markdown, WildFilesComeBackAndMostKeepTheirTree) {
  size_t changed = 0;
  for (uint32_t seed = 0; seed < 20'000; ++seed) {
    const std::string file = GeneratedMarkdown(seed).wild();
    const Document document = read_as("markdown", file);
    ASSERT_EQ(identity_of(document), file) << seed;
    changed += markdown_tree(file).flat != markdown_tree(in_capitals(document)).flat ? 1 : 0;
  }
  EXPECT_LE(changed, 100u);
}

TEST(Markdown, InlineMarkupIsMarks) {
  const Document document =
      read_as("markdown", "See *the **docs*** of [it](x \"t\"),\n`code` and <http://a.b>.\n");
  ASSERT_EQ(document.segments.size(), 1u);
  const DocumentSegment& segment = document.segments[0];
  EXPECT_EQ(segment.text, "See the docs of it, code and http://a.b.");
  ASSERT_EQ(segment.marks.size(), 5u);
  EXPECT_EQ(segment.marks[1].depth, 1u);
  EXPECT_EQ(segment.marks[2].close, "](x \"t\")");
  EXPECT_EQ(segment.marks[3].open, "`code`");
}

TEST(Markdown, AParagraphIsASegmentOnOneLine) {
  EXPECT_EQ(capitals_of("> a quote\n> that *goes\n> on*\nlazily\n>\n> - item\n>   more\n"),
            "> A QUOTE THAT *GOES ON* LAZILY\n>\n> - ITEM MORE\n");
  EXPECT_EQ(capitals_of("one\\\ntwo  \nthree\r\nfour"), "ONE\\\nTWO  \nTHREE FOUR");
  EXPECT_EQ(capitals_of("a\nheading\n===\n# another # \n"), "A HEADING\n===\n# ANOTHER # \n");
  EXPECT_EQ(capitals_of("a | b\n---\n\na | b\n"), "A &#124; B\n---\n\nA | B\n");
}

TEST(Markdown, WhatIsNotTranslatedStays) {
  EXPECT_EQ(
      markdown_texts("---\ntitle: x\n---\n    code\n\n```\ncode\n```\n\n<div>html</div>\n\n[a]: http://x "
                     "'y'\n\n`code`\n\n"
                     "![](x.png)\n\n***\n\n[^1]\n\n<http://a.b>\n"),
      Texts{});
  EXPECT_EQ(
      markdown_texts(
          "- [ ] a task\n- [x] done\n\n[^1]: a note here\n\n# Title {#its-id}\n\n> [!NOTE]\n> careful\n"),
      (Texts{"a task", "done", "a note here", "Title", "careful"}));
  EXPECT_EQ(markdown_texts(":::tip\nsome text\n:::\n\nuse ~~this~~ that[^2], [[Page]] and <kbd>q</kbd>.\n"),
            (Texts{"some text", "use this that, [[Page]] and."}));
}

TEST(Markdown, FootnotesAreSegments) {
  EXPECT_EQ(capitals_of("see[^1] it[^2]\n\n[^1]: word\n[^2]: two words\n> [^a]: word\n"),
            "SEE[^1] IT[^2]\n\n[^1]: WORD\n[^2]: TWO WORDS\n> [^a]: WORD\n");
  EXPECT_EQ(capitals_of("text\n[^1]:\n    word\n\n    [^2]: code\n"),
            "TEXT\n[^1]:\n    WORD\n\n    [^2]: code\n");
}

TEST(Markdown, CellsOfTablesAreSegments) {
  const std::string table = "one | *two*\n:-- | ---\n`a|b | c \\| d\n| - x | [t][r] | \n\n[r]: /u\n";
  EXPECT_EQ(markdown_texts(table), (Texts{"one", "two", "`a", "b", "c | d", "- x", "t"}));
  EXPECT_EQ(filled_with("p|q", "| a |\n|---|\n| b |\n"), "| p\\|q |\n|---|\n| p\\|q |\n");
}

TEST(Markdown, CodeWithAPipeIsWholeWhereItsRowWouldHaveTooManyCells) {
  EXPECT_EQ(capitals_of("`a|b` | c\n--|--\nd `a|b` e | f\n`g | h`\n``a|`b`` | i\n"),
            "`a|b` | C\n--|--\nD `a|b` E | F\n&#96;G | H&#96;\n``a|`b`` | I\n");
}

TEST(Markdown, LinkDefinitionsBeforeATextStay) {
  EXPECT_EQ(markdown_texts("[a]: b\n'c\nd'\n[e]:\n/u\ntext here\n"), Texts{"text here"});
  EXPECT_EQ(markdown_texts("> [a]: <b c> (d)\n> \"e\" text\n"), Texts{"\"e\" text"});
  EXPECT_EQ(markdown_texts("[a]: b\n\"c\" text\n===\n"), Texts{"\"c\" text"});
  EXPECT_EQ(markdown_texts("[a]: b c\ntext\n"), Texts{"[a]: b c text"});
  EXPECT_EQ(markdown_texts("[a]: b\n'c\nd'\nx | y\n--|--\n1 | two words\n"), (Texts{"x", "y", "two words"}));
}

TEST(Markdown, DeclarationsStay) {
  EXPECT_EQ(markdown_texts("<!doctype html><p>html</p>\n\nsome <!x y> text\n"), Texts{"some text"});
}

TEST(Markdown, LabelsOfLinksStay) {
  EXPECT_EQ(filled_with("neu", "[old]\n\n[Old][] \n\n[x][old]\n\n![old]\n\n[old]: /u\n"),
            "[neu][old]\n\n[neu][Old] \n\n[neu][old]\n\n![old]\n\n[old]: /u\n");
}

TEST(Markdown, AlternativeTextsAreSegments) {
  EXPECT_EQ(capitals_of("see ![a *fine* picture](x.png \"t\") here\n\n[![badge](b.svg)](/u)\n"),
            "SEE ![A *FINE* PICTURE](x.png \"t\") HERE\n\n[![BADGE](b.svg)](/u)\n");
}

TEST(Markdown, TextThatWouldBeMarkupIsEscaped) {
  for (const std::string text : {"# no heading",
                                 "1. no list",
                                 "12) no list",
                                 "- no list",
                                 "+ no list",
                                 "* no list",
                                 "> no quote",
                                 "~~~ no code",
                                 "--- no",
                                 "*no emphasis*",
                                 "_nor this_",
                                 "__nor this__",
                                 "`no code`",
                                 "[no](link)",
                                 "![no](image)",
                                 "<b>no</b>",
                                 "<http://no.link>",
                                 "&amp;",
                                 "\\*",
                                 "ends in \\",
                                 "[ref]: /no",
                                 "<!-- no",
                                 "# #",
                                 "C #",
                                 "a * b * c",
                                 "snake_case_name",
                                 "&copy; 1 < 2 & 3",
                                 "===",
                                 "= x",
                                 "#hash",
                                 "5 * 3",
                                 "https://x.org/a_b_(c)?d=*",
                                 "| no | table |"}) {
    const std::string file = filled_with(text + " w", "text\n\n- item *x*\n");
    cmark_node* const document = cmark_parse_document(file.data(), file.size(), CMARK_OPT_DEFAULT);
    cmark_node* const node = cmark_node_first_child(cmark_node_first_child(document));
    ASSERT_NE(node, nullptr) << file;
    EXPECT_EQ(cmark_node_get_type(node), CMARK_NODE_TEXT) << file;
    EXPECT_EQ(std::string(cmark_node_get_literal(node)), text + " w") << file;
    EXPECT_EQ(cmark_node_next(node), nullptr) << file;
    cmark_node_free(document);
  }
}

TEST(Markdown, TruncatedAnywhereItComesBack) {
  for (uint32_t seed = 0; seed < 30; ++seed)
    expect_every_beginning("markdown", GeneratedMarkdown(seed).tame().substr(0, 400));
}

// In time that grew with the square of their size these would take longer than a test may.
TEST(Markdown, HostileFilesComeBack) {
  const size_t n = 50'000;
  for (const std::string_view part :
       {"> ",      "- ",    "*a ",   "**a **b",    "<",     "`a",       "``a`", "_a*",
        "<!--",    "<?",    "> x\n", "  - x\n",    "&",     "a**b",     "\\",   "~~~\n",
        "<div>\n", "| a ",  "|---",  "a|b\n-|-\n", "~~",    "{%",       "$$",   "*a_ ",
        "a\n",     "a\\\n", "<b>",   "<code>",     "# a\n", "1. a\n\n", "x ] "}) {
    const std::string file = repeated(part, n) + "x";
    ASSERT_EQ(identity_of(read_as("markdown", file)), file) << part;
    capitals_of(file);
  }
  for (const std::string_view part :
       {"[", "![", "[a]: b\n", "![[]()", "[a](", "[a][b]", "[a](b (", "[^a", "[[", "[![a](b)](c)"}) {
    const std::string file =
        repeated(part, 10'000 / static_cast<size_t>(std::ranges::count(part, '['))) + "x";
    ASSERT_EQ(identity_of(read_as("markdown", file)), file) << part;
    capitals_of(file);
  }
}

TEST(Markdown, FilesBeyondItsBoundsAreRefused) {
  EXPECT_EQ(refusal("markdown", "a\n\n" + repeated("[\n", 10'001)),
            "test.markdown: line 10003: more than 10000 brackets without an empty line: split the paragraph");
  EXPECT_EQ(refusal("markdown", std::string(33 << 20, 'a')),
            "test.markdown: 33 MiB of Markdown, the limit is 32: split the file");
}

}  // namespace
}  // namespace dragoman::internal
