#include <gumbo.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "document/generated_html.h"
#include "document/identity.h"
#include "document/in_place.h"

namespace dragoman::internal {
namespace {

std::vector<std::string> texts_of(const std::string& html) {
  std::vector<std::string> texts;
  for (const DocumentSegment& segment : read_as("html", html).segments) texts.push_back(segment.text);
  return texts;
}

using Texts = std::vector<std::string>;

// A page as gumbo reads it: its tags, attributes and text, the text in capitals and without white space.
struct Tree {
  std::string flat;
  std::string small_letters;  // text that was not in capitals, of elements that are translated
};

bool is_untouched(const GumboNode* node) {
  const GumboAttribute* translate = gumbo_get_attribute(&node->v.element.attributes, "translate");
  if (translate != nullptr) return std::string_view(translate->value) == "no";
  for (const GumboTag tag :
       {GUMBO_TAG_CODE, GUMBO_TAG_KBD, GUMBO_TAG_SCRIPT, GUMBO_TAG_STYLE, GUMBO_TAG_SVG, GUMBO_TAG_TEXTAREA})
    if (node->v.element.tag == tag) return true;
  return false;
}

bool is_translated(const GumboNode* node) {
  for (; node != nullptr && node->type == GUMBO_NODE_ELEMENT; node = node->parent) {
    if (is_untouched(node)) return false;
    if (gumbo_get_attribute(&node->v.element.attributes, "translate") != nullptr) return true;
  }
  return true;
}

void append_text(const GumboNode* node, Tree& tree) {
  const std::string text = node->v.text.text;
  for (const char c : upper_case(text))
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') tree.flat += c;
  for (const char c : text)
    if (c >= 'a' && c <= 'z' && is_translated(node->parent)) tree.small_letters += c;
}

Tree tree_of(const std::string& html) {
  GumboOptions options = kGumboDefaultOptions;
  options.max_errors = 0;
  GumboOutput* const output = gumbo_parse_with_options(&options, html.data(), html.size());
  Tree tree;
  std::vector<const GumboNode*> rest = {output->root};
  while (!rest.empty()) {
    const GumboNode* node = rest.back();
    rest.pop_back();
    if (node == nullptr) {
      tree.flat += "</>";
    } else if (node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE) {
      tree.flat += fmt::format("<{}", static_cast<int>(node->v.element.tag));
      const GumboVector& attributes = node->v.element.attributes;
      for (unsigned i = 0; i < attributes.length; ++i) {
        const auto* attribute = static_cast<const GumboAttribute*>(attributes.data[i]);
        tree.flat += fmt::format(" {}={}", attribute->name, upper_case(attribute->value));
      }
      tree.flat += ">";
      rest.push_back(nullptr);
      const GumboVector& children = node->v.element.children;
      for (unsigned i = children.length; i-- > 0;)
        rest.push_back(static_cast<const GumboNode*>(children.data[i]));
    } else if (node->type == GUMBO_NODE_COMMENT) {
      tree.flat += fmt::format("<!{}>", node->v.text.text);
    } else {
      append_text(node, tree);
    }
  }
  gumbo_destroy_output(&options, output);
  return tree;
}

TEST(Html, GeneratedPagesComeBackAndKeepTheirTree) {
  for (uint32_t seed = 0; seed < 10'000; ++seed) {
    const bool wild = seed % 2 == 1;
    const std::string html = GeneratedHtml(seed, wild).document();
    const Document document = read_as("html", html);
    ASSERT_EQ(identity_of(document), html) << seed;
    const std::string capitals = in_capitals(document);
    const Tree before = tree_of(html), after = tree_of(capitals);
    ASSERT_EQ(before.flat, after.flat) << seed << "\n" << html << "\n---\n" << capitals;
    ASSERT_EQ(wild ? "" : after.small_letters, "") << seed << "\n" << html << "\n---\n" << capitals;
  }
}

TEST(Html, InlineTagsAreMarksAndBlocksAreBorders) {
  const Document document = read_as("html", "<p>One <b>two\n  <i>three</i></b>.<p>Four<br>five <b>six</b>");
  ASSERT_EQ(document.segments.size(), 3u);
  const DocumentSegment& first = document.segments[0];
  EXPECT_EQ(first.text, "One two three.");
  ASSERT_EQ(first.marks.size(), 2u);
  EXPECT_EQ(first.marks[0].place, (TextSpan{4, 13}));
  EXPECT_EQ(first.marks[1].depth, 1u);
  EXPECT_EQ(first.marks[1].open, "<i>");
  const DocumentSegment& last = document.segments[2];
  EXPECT_EQ(last.text, "five six");
  ASSERT_EQ(last.marks.size(), 1u);
  EXPECT_EQ(last.marks[0].place, (TextSpan{5, 8}));
  EXPECT_EQ(last.marks[0].close, "</b>");
}

TEST(Html, TagsAroundAllOfASegmentAreNoMarks) {
  const Document document = read_as("html", "<p><b> <a href=x>Read me</a></b></p>");
  ASSERT_EQ(document.segments.size(), 1u);
  EXPECT_EQ(document.segments[0].original, "Read me");
  EXPECT_TRUE(document.segments[0].marks.empty());
}

TEST(Html, WhatIsNotTranslatedStays) {
  EXPECT_EQ(
      texts_of(
          "<script>var text</script><style>p</style><pre><code>x y</code></pre><svg><text>t</text></svg>"
          "<!-- c --><textarea>t</textarea><template><p>t</p></template><![CDATA[ x ]]><?php echo 'p' ?>"),
      Texts{});
  EXPECT_EQ(texts_of("<div translate=no>a <p>b</p> <span translate=yes>c</span></div>d"), (Texts{"c", "d"}));
  EXPECT_EQ(texts_of("<ul><li class='x notranslate'>a<li>b</ul><p translate=no>c<p>d"), (Texts{"b", "d"}));
  EXPECT_EQ(texts_of("Run <code>ls</code>, then <kbd>q</kbd>."), Texts{"Run ls, then q."});
}

TEST(Html, PreformattedTextIsALineASegment) {
  EXPECT_EQ(texts_of("<pre>one  two\n  three <b>four</b>\n\n5</pre>six\nseven"),
            (Texts{"one", "two", "three four", "six seven"}));
  EXPECT_EQ(texts_of("<pre class=programlisting>one</pre>two"), Texts{"two"});
}

TEST(Html, PreformattedCodeAndColumnsStay) {
  const std::string program =
      "<pre>int  main( )\n{\n  return a &lt; b;\n}\n</pre><pre>x = f(1)\n#include &lt;a.h&gt;</pre>";
  EXPECT_EQ(texts_of(program), Texts{});
  EXPECT_EQ(in_capitals(read_as("html", "<pre>\n name   the size (s)\n\ta  b &amp; c\r\n x &gt;\n</pre>")),
            "<pre>\n NAME   THE SIZE (S)\n\tA  B &amp; C\r\n X &gt;\n</pre>");
}

TEST(Html, AttributesAreSegments) {
  const std::string html =
      "<p title=hint>See <img src=x alt='a &quot;b&quot; it&#39;s'> <input type=submit value=\"Go\"><input "
      "value=x "
      "placeholder=\"a name\"></p><meta name=description content=\"d e\"><meta name=viewport content=\"w\">";
  EXPECT_EQ(texts_of(html), (Texts{"hint", "a \"b\" it's", "Go", "a name", "See", "d e"}));
  EXPECT_EQ(
      in_capitals(read_as("html", html)),
      "<p title=\"HINT\">SEE <img src=x alt='A \"B\" IT&#39;S'> <input type=submit value=\"GO\"><input "
      "value=x "
      "placeholder=\"A NAME\"></p><meta name=description content=\"D E\"><meta name=viewport content=\"w\">");
}

TEST(Html, CharactersThatAreMarkupAreEscaped) {
  EXPECT_EQ(in_capitals(read_as("html", "<p>a < b &amp; c&nbsp;&eacute; &notareference; <3 {{ x }}")),
            "<p>A &lt; B &amp; C\u00A0é ¬AREFERENCE; &lt;3 {{ X }}");
}

TEST(Html, TheLanguageOfThePageIsThatOfTheTranslation) {
  const auto written = [](const std::string& html) {
    const Document document =
        document_format("html", "").read(html, {.name = "a.html", .from = "en", .to = "fr"});
    return identity_of(document);
  };
  EXPECT_EQ(written("<html lang=\"en-GB\"><p lang=en>x"), "<html lang=\"fr\"><p lang=en>x");
  EXPECT_EQ(written("<html lang=de>"), "<html lang=de>");
  const std::string of_template = "<html lang=\"{{ page.lang }}\">";
  EXPECT_EQ(identity_of(document_format("html", "").read(of_template, {.name = "a.html", .to = "fr"})),
            of_template);
}

TEST(Html, TheEncodingIsSaidToBeUtf8) {
  const auto written = [](const std::string& html) {
    return identity_of(document_format("html", "").read(html, {.name = "a.html"}));
  };
  EXPECT_EQ(written("<meta charset=iso-8859-1><p>x"), "<meta charset=utf-8><p>x");
  EXPECT_EQ(written("<META content='text/html; Charset=windows-1252;a=b' HTTP-EQUIV=Content-Type>"),
            "<META content='text/html; Charset=utf-8;a=b' HTTP-EQUIV=Content-Type>");
  EXPECT_EQ(written("<meta http-equiv=content-type content=\"text/html; charset=a\" content=x>"),
            "<meta http-equiv=content-type content=\"text/html; charset=utf-8\" content=x>");
  EXPECT_EQ(in_capitals(read_as("html", "<meta name=description content=a charset=x>")),
            "<meta name=description content=\"A\" charset=utf-8>");
  EXPECT_EQ(in_capitals(read_as("html",
                                "<meta name=\"description\" http-equiv=\"Content-Type\" "
                                "content=\"text/html; charset=iso-8859-1\">")),
            "<meta name=\"description\" http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\">");
  EXPECT_EQ(written("<?xml version=\"1.0\" encoding='ISO-8859-1'?>\n<p>x"),
            "<?xml version=\"1.0\" encoding='utf-8'?>\n<p>x");
  EXPECT_EQ(written("<head translate=no><meta charset=iso-8859-1></head>"),
            "<head translate=no><meta charset=utf-8></head>");
  for (const char* same :
       {"<meta charset=\"UTF-8\">", "<meta http-equiv=content-type content=\"text/html\">",
        "<meta name=a content=\"charset=x\">", "<p charset=x>y", "<meta charset>", "<meta charset=''>",
        "<meta charset=\"<?php bloginfo('charset'); ?>\">", "<meta charset=\"{{ x }}\">",
        "<?xml version='1.0' encoding='UTF-8'?>x", "<p>x<?xml encoding='a'?>"})
    EXPECT_EQ(written(same), same);
}

TEST(Html, OtherEncodingsAreReadAndWrittenInUtf8) {
  const std::string page = "<meta charset=iso-8859-1><p>caf\xE9 \x93x\x94";
  EXPECT_EQ(identity_of(read_as("html", page)), page);
  EXPECT_EQ(in_capitals(read_as("html", page)), "<meta charset=utf-8><p>CAFé “X”");
  const std::string xhtml = "<?xml version='1.0' encoding='ISO-8859-1'?><p title=\"encoding=a\">caf\xE9";
  EXPECT_EQ(identity_of(read_as("html", xhtml)), xhtml);
  EXPECT_EQ(in_capitals(read_as("html", xhtml)),
            "<?xml version='1.0' encoding='utf-8'?><p title=\"ENCODING=A\">CAFé");
  std::string wide = "\xFF\xFE";
  for (const char c : std::string("<p>one")) (wide += c) += '\0';
  EXPECT_EQ(in_capitals(read_as("html", wide)), "<p>ONE");
  EXPECT_NE(refusal("html", "<p>caf\xE9"), "");
  EXPECT_NE(refusal("html", "<?xml version='1.0'?><p title='encoding=latin1'>caf\xE9"), "");
  EXPECT_NE(refusal("html", "<meta charset=utf-8><p>caf\xE9"), "");
}

TEST(Html, StatementsOfTemplatesKeepTheirOrder) {
  EXPECT_EQ(
      texts_of(
          "{% if a < b %}Edit{% else %}New{% endif %} <?php if (a > b) { ?>item<?php } ?> on <?= $day ?>."),
      (Texts{"Edit", "New", "item", "on."}));
}

TEST(Html, TemplatesInAttributesStay) {
  EXPECT_EQ(in_capitals(read_as("html", R"(<p><a href="<%= url_for("home") %>" title="x">Home</a>.)")),
            R"(<p><a href="<%= url_for("home") %>" title="x">HOME</a>.)");
  EXPECT_EQ(
      texts_of(
          R"(<img alt="<%= t(:logo) %> logo"><b title="{% trans "Close" %}"></b><img alt="{% trans 'Logo' %}">)"),
      Texts{});
}

TEST(Html, TemplatesInTitlesStay) {
  EXPECT_EQ(texts_of("<title>{% block title %}My site{% endblock %}</title>"), Texts{"My site"});
  EXPECT_EQ(in_capitals(read_as("html", "<title><?php bloginfo('name') ?> a <b> &amp; c<% end %></title>")),
            "<title><?php bloginfo('name') ?> A &lt;B&gt; &amp; C<% end %></title>");
  EXPECT_EQ(texts_of("<title>100 <% of <? it</title><p>b %> ?>"), (Texts{"100 <% of <? it", "b %> ?>"}));
}

TEST(Html, TruncatedAnywhereItComesBack) {
  for (uint32_t seed = 1; seed < 60; seed += 2)
    expect_every_beginning("html", GeneratedHtml(seed, true).document().substr(0, 500));
}

// In time that grew with the square of their size these would take longer than a test may.
TEST(Html, HostilePagesComeBack) {
  const size_t n = 100'000;
  const std::string pages[] = {
      repeated("<div>", n),
      repeated("<b>", n) + "x" + repeated("</i>", n),
      repeated("<p><b i=", n),
      repeated("<!--", n),
      repeated("{%", n) + repeated("<%", n),
      repeated("<a b=\"<?php ", n),
      repeated("<a b=\"<% ", n),
      "<title>" + repeated("<% {% <? ", n) + "</title>%> %} ?>",
      repeated("<script></", n),
      repeated("<code>", n) + "x",
      repeated("<svg>", n) + "x",
      repeated("&a", n),
      repeated("<i translate=no><i translate=yes>", n),
      repeated("<b>x", n) + repeated("</b>", n),
      "<a " + repeated("a ", n) + ">",
      repeated("<b> <p>", n),
      repeated("<select><option>a", n),
      std::string(n, '<'),
      std::string(n, '&'),
      repeated("<x", n) + ">y",
  };
  for (const std::string& page : pages) {
    const Document document = read_as("html", page);
    ASSERT_EQ(identity_of(document), page);
    in_capitals(document);
  }
}

TEST(Html, MoreOpenElementsThanAnyPageHasAreRefused) {
  EXPECT_EQ(refusal("html", "\n" + repeated("<div>", 1'000'001)),
            "test.html: line 2: more than 1000000 elements are open: close them, or remove what is not HTML");
}

}  // namespace
}  // namespace dragoman::internal
