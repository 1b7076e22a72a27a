#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "document/random_words.h"
#include "document/rotated.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using Texts = std::vector<std::string>;

Texts rst_texts(const std::string& file) { return texts_of(read_as("rst", file)); }

std::string rst_written(const std::string& file, const std::string& translation) {
  const Document document = read_as("rst", file);
  return document.write(Texts{render(document.segments.at(0), translation, {})});
}

const std::string page = R"(.. comment, and
   more of it

=========
The title
=========

A paragraph of *two*
lines with ``code`` and `a link <https://x.org>`_, see [1]_.

Smaller
-------

- One item
  goes on
- Another |sub| item

1. First::

     literal *text*

   Second part.

::

   more literal *text*

.. note:: Mind the **gap**.

   And more.

.. code-block:: python

   print("no")

.. _target:
.. [1] A footnote.

__ https://x.org/
   stays

term
    Its meaning.

:field: stays
:param x: The value.

===== =====
A     B
===== =====
c     d
===== =====

>>> 1 + 1
2

| A line
| of verse
)";

TEST(Rst, TranslatesTextAndKeepsTheRest) {
  const Document document = read_as("rst", page);
  EXPECT_EQ(texts_of(document),
            (Texts{"The title", "A paragraph of two lines with code and a link, see.", "Smaller",
                   "One item goes on", "Another sub item", "First", "Second part.", "Mind the gap.",
                   "And more.", "A footnote.", "term", "Its meaning.", "The value.", "A line", "of verse"}));
  EXPECT_EQ(identity_of(document), page);
}

TEST(Rst, DrawsLinesAsLongAsTitles) {
  EXPECT_EQ(rst_written("Title\n=====\n\n", "Un titre"), "Un titre\n========\n\n");
  EXPECT_EQ(rst_written("=====\nTitle\n=====\n", "Le"), "==\nLe\n==\n");
  EXPECT_EQ(rst_written("Title\n-------\n", "Un titre long"), "Un titre long\n-------------\n");
  EXPECT_EQ(rst_written("Title\n=====\n", "题目"), "题目\n====\n");
  const Document two = read_as("rst", "One\n===\nTwo\n===\n");
  EXPECT_EQ(two.write(Texts{"A", "Deux"}), "A\n=\nDeux\n====\n");
}

TEST(Rst, ReferencesToATitleFindIt) {
  const auto in_french = [](const std::string& file) {
    const Document document = read_as("rst", file);
    return document.write(Texts{"Un titre", render(document.segments.at(1), "Voir.", {})});
  };
  const std::string title = "The title\n=========\n\n";
  for (const std::string reference : {"`the\nTitle`_.", "`here <The title_>`_."}) {
    const std::string written = in_french(title + "See " + reference + "\n");
    EXPECT_TRUE(written.starts_with(".. _`The title`:\n\nUn titre\n========\n\n")) << written;
  }
  EXPECT_TRUE(
      in_french("=========\nThe title\n=========\n\n`The title`_\n").starts_with(".. _`The title`:\n\n===="));
  EXPECT_TRUE(in_french(title + "See `another one`_.\n").starts_with("Un titre"));
  EXPECT_TRUE(in_french(title + "See `The title`_.\n\n.. _the title: x\n").starts_with("Un titre"));
  EXPECT_EQ(identity_of(read_as("rst", title + "See `The title`_.\n")), title + "See `The title`_.\n");
}

TEST(Rst, ALineDeeperThanItsListItemIsADefinition) {
  EXPECT_EQ(rst_texts("1. A term\n    is this.\n\n- Words\n  go on\n"),
            (Texts{"A term", "is this.", "Words go on"}));
  EXPECT_EQ(rst_written("42\n    A term\n        43\n", "Un mot : un"),
            "42\n    Un mot \\: un\n        43\n");
  EXPECT_EQ(rst_texts("-a FILE, --all=FILE\n       Takes all.\n"), (Texts{"Takes all."}));
}

TEST(Rst, KeepsMarkup) {
  const auto links = [](const std::string& file, const std::string& translation) {
    const Document document = read_as("rst", file);
    const DocumentSegment& segment = document.segments.at(0);
    const std::vector<TextSpan> from = words_of(segment.text), to = words_of(translation);
    std::vector<TextLink> pairs;
    for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) pairs.push_back({from[i], to[i]});
    return document.write(Texts{render(segment, translation, pairs)});
  };
  EXPECT_EQ(links("See `page`_ now\n", "Voir feuille maintenant"), "Voir `feuille <page_>`_ maintenant\n");
  EXPECT_EQ(links("See :ref:`page <x>` now\n", "Voir feuille maintenant"),
            "Voir :ref:`feuille <x>` maintenant\n");
  EXPECT_EQ(links("See `page`__ now\n", "Voir feuille maintenant"), "Voir `feuille`__ maintenant\n");
  const Document anonymous = read_as("rst", "See `page`__ now\n");
  const std::vector<TextLink> without_page = {{{0, 3}, {0, 4}}, {{9, 12}, {5, 15}}};
  EXPECT_EQ(anonymous.write(Texts{render(anonymous.segments[0], "Voir maintenant", without_page)}),
            "Voir `page`__ maintenant\n");
  EXPECT_EQ(links("See `open`:func: now\n", "Voir open maintenant"), "Voir `open`:func: maintenant\n");
  EXPECT_EQ(links("See :func:`open` now\n", "Voir open maintenant"), "Voir :func:`open` maintenant\n");
  EXPECT_EQ(links("See **page** x\\*y\n", "Voir *feuille* _a_"), "Voir **\\***\\ feuille\\* _a\\_\n");
  EXPECT_EQ(rst_written("Text\n", "a:b 1:2 c: d http://x:8"), "a\\:b 1:2 c: d http://x:8\n");
  EXPECT_EQ(read_as("rst", "``page``:sup:`x` now\n").segments.at(0).marks.size(), 2u);
  EXPECT_EQ(identity_of(read_as("rst", "``page``:sup:`x` now\n")), "``page``:sup:`x` now\n");
  EXPECT_EQ(rst_texts(":func:`x` does::\n\n  code\n\n* | A line\n  | of verse\n"),
            (Texts{"x does", "A line", "of verse"}));
  EXPECT_EQ(rst_texts("2*3*4 and snake_case or a_ link\n"), Texts{"2*3*4 and snake_case or a_ link"});
  EXPECT_EQ(rst_written("Text\n", "- x"), "\\- x\n");
  EXPECT_EQ(rst_written("Text\n", "1. x"), "\\1. x\n");
  EXPECT_EQ(rst_written("Text::\n\n  code\n", "Texte"), "Texte::\n\n  code\n");
}

TEST(Rst, ComesBackHoweverItIsTruncated) {
  for (size_t size = 0; size <= page.size(); ++size)
    ASSERT_EQ(identity_of(read_as("rst", page.substr(0, size))), page.substr(0, size));
}

std::string random_page(uint64_t seed) {
  static const Texts blocks = {"%s\n====\n",
                               "%s\n------------\n\n",
                               "%s\n",
                               "- %s\n- %s\n",
                               "1. %s\n2. %s\n",
                               "%s::\n\n    literal *x\n",
                               ".. note:: %s\n\n   %s\n",
                               "term\n    %s\n",
                               "    %s\n",
                               ".. code::\n\n   x = *y\n",
                               "| %s\n| %s\n",
                               "%s\n\n* %s\n"};
  static const Texts words = {"word",
                              "*em*",
                              "**strong words**",
                              "``co de``",
                              "`link <https://x.org>`__",
                              "x\\*y",
                              "it's",
                              "\n",
                              "|x|",
                              ":sub:`two`",
                              "a_b",
                              "(*more*)",
                              "end."};
  Random random(seed);
  std::string file = ".. |x| replace:: y\n\n";
  for (uint64_t n = 1 + random.below(8); n > 0; --n) {
    std::string block = blocks[random.below(blocks.size())];
    for (size_t at = block.find("%s"); at != block.npos; at = block.find("%s")) {
      std::string text = "One";
      for (uint64_t m = random.below(6); m > 0; --m) {
        std::string word = words[random.below(words.size())];
        const bool may_break = block.starts_with("%s\n") && block.size() == 3 && text.back() != ' ';
        text += word == "\n" ? (may_break ? "\nmore" : "") : " " + word;
      }
      block.replace(at, 2, text);
    }
    if (block.find("\n====") != block.npos) block = "One title\n=========\n";
    file += block + "\n";
  }
  return file;
}

// Docutils is the judge: the same elements, but for emphasis without words.
TEST(Rst, HasTheSameElementsWhateverTheTranslationIs) {
  if (std::system("python3 -c 'import docutils' > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "docutils is not installed";
  const TemporaryFolder folder;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const std::string file = random_page(seed);
    ASSERT_EQ(identity_of(read_as("rst", file)), file);
    std::ofstream(folder.path(std::to_string(seed) + ".rst"), std::ios::binary) << file;
    std::ofstream(folder.path(std::to_string(seed) + ".new"), std::ios::binary)
        << in_random_words(read_as("rst", file), seed);
  }
  std::ofstream(folder.path("judge.py")) << R"(
import collections, docutils.core, docutils.nodes, glob
def elements(name):
    settings = {"report_level": 5, "halt_level": 6, "doctitle_xform": False}
    tree = docutils.core.publish_doctree(open(name, encoding="utf-8").read(), settings_overrides=settings)
    names = [n.tagname for n in tree.findall() if not isinstance(n, docutils.nodes.Text)]
    return collections.Counter(names)
for name in sorted(glob.glob("*.rst")):
    before, after = elements(name), elements(name[:-3] + "new")
    if before["system_message"] or before["problematic"]: continue
    lost = set(before - after) - {"emphasis", "strong", "subscript"}  # which had no word left
    assert not lost and not after - before, (name, before - after, after - before, open(name[:-3] + "new").read())
)";
  EXPECT_EQ(std::system(("cd " + folder.path("") + " && python3 judge.py").c_str()), 0);
}

TEST(Rst, IsReadInLinearTimeWhateverItHolds) {
  for (const std::string part : {"*a ", "**a ", "`a ", "``a ", ":a:", "[a ", "|a ", "a_ ", "\\", "- ",
                                 "\n===\n", "::\n\n", ".. a\n", "+-\n"}) {
    std::string file = "one ";
    while (file.size() < 300'000) file += part;
    ASSERT_EQ(identity_of(read_as("rst", file)), file) << part;
  }
}

}  // namespace
}  // namespace dragoman::internal
