#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "base/random.h"
#include "document/messages/po_strings.h"
#include "document/rotated.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using Texts = std::vector<std::string>;

const std::string header =
    "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=2; "
    "plural=(n != 1);\\n\"\n\n";

bool po_has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::string rotation_of_po(const std::string& file) { return rotation_of(read_as("po", file)); }

TEST(Po, TranslatesWhatHasNoTranslation) {
  const std::string file =
      header +
      "# kept\n#: a.c:1\n#, c-format\nmsgctxt \"menu\"\nmsgid \"%d files\"\nmsgstr \"\"\n\n"
      "msgid \"Done\"\nmsgstr \"Fertig\"\n\n"
      "msgid \"%s: %d\"\nmsgstr \"\"\n\n"
      "#~ msgid \"old\"\n#~ msgstr \"\"\n";
  EXPECT_EQ(texts_of(read_as("po", file)), (Texts{"%d files"}));
  std::string expected = file;
  expected.replace(expected.find("files\"\nmsgstr \"\"") + 14, 2, "\"%d svyrf\"");
  EXPECT_EQ(rotation_of_po(file), expected);
  const std::string filled = identity_of(read_as("po", file));
  EXPECT_TRUE(po_has(filled, "msgstr \"%d files\"\n"));
  EXPECT_EQ(read_as("po", filled).segments.size(), 0u);
}

TEST(Po, FillsEveryFormOfAPlural) {
  const std::string message =
      "msgid \"One file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n";
  EXPECT_TRUE(po_has(rotation_of_po(header + message), "msgstr[0] \"Bar svyr\"\nmsgstr[1] \"%q svyrf\"\n"));
  std::string three = header + message;
  three.replace(three.find("nplurals=2"), 10, "nplurals=3");
  EXPECT_TRUE(po_has(rotation_of_po(three), "[1] \"%q svyrf\"\nmsgstr[2] \"%q svyrf\"\n"));
  three.replace(three.find("nplurals=3"), 10, "nplurals=1");
  EXPECT_TRUE(rotation_of_po(three).ends_with("msgstr[0] \"%q svyrf\"\n"));
  three.replace(three.find("[1] \"\""), 6, "[1] \"Da\"");
  three.replace(three.find("nplurals=1"), 10, "nplurals=2");
  EXPECT_EQ(texts_of(read_as("po", three)), (Texts{"One file"}));
}

// gettext uses no translation of a plural that lacks a form.
TEST(Po, WritesTheFormsWithoutWordsToo) {
  EXPECT_TRUE(
      po_has(rotation_of_po(header + "msgid \"%(name)s\"\nmsgid_plural \"%(name)s and %(count)d others\"\n"
                                     "msgstr[0] \"\"\nmsgstr[1] \"\"\n"),
             "msgstr[0] \"%(name)s\"\nmsgstr[1] \""));
}

TEST(Po, ReplacesFuzzyTranslationsAndTakesTheFlagAway) {
  EXPECT_EQ(
      rotation_of_po(header + "#, fuzzy, c-format\n#| msgid \"Fil\"\nmsgid \"File\"\nmsgstr \"Feil\"\n\n"
                              "#, fuzzy\nmsgid \"Edit\"\nmsgstr \"\"\n\"old\"\n\n#, fuzzy\n#~ msgid \"a\"\n"
                              "#~ msgstr \"b\"\n\nmsgid \"c\"\nmsgstr \"d\"\n"),
      header +
          "#, c-format\nmsgid \"File\"\nmsgstr \"Svyr\"\n\nmsgid \"Edit\"\nmsgstr \"Rqvg\"\n\n"
          "#, fuzzy\n#~ msgid \"a\"\n#~ msgstr \"b\"\n\nmsgid \"c\"\nmsgstr \"d\"\n");
}

TEST(Po, SplitsLinesButNotSentences) {
  const Document document =
      read_as("po", header +
                        "msgid \"\"\n\"Usage: run FILE\\n\"\n\"  -h   shows this text\\n\"\n"
                        "\"       and ends\\n\"\n\"\\n\"\n\"Report \\\"bugs\\\".\\n\"\nmsgstr \"\"\n");
  EXPECT_EQ(texts_of(document),
            (Texts{"Usage: run FILE", "-h   shows this text and ends", "Report \"bugs\"."}));
  EXPECT_EQ(document.segments[1].marks.at(0).open, "\\n       ");
  EXPECT_TRUE(
      po_has(rotation_of(document),
             "msgstr \"\"\n\"Hfntr: eha SVYR\\n\"\n\"  -u   fubjf guvf grkg\\n\"\n\"       naq raqf\\n\"\n"
             "\"\\n\"\n\"Ercbeg \\\"ohtf\\\".\\n\"\n"));
}

TEST(Po, HasLineBreaksAtItsEndsAsTheMessageDoes) {
  const auto translated = [](const std::string& message, const std::string& translation) {
    const Document document = read_as("po", header + "msgid \"" + message + "\"\nmsgstr \"\"\n");
    return document.write(Texts{render(document.segments.at(0), translation, {})});
  };
  EXPECT_TRUE(po_has(translated("One of\\nall these", "Un"), "msgstr \"Un\"\n"));
  EXPECT_TRUE(po_has(translated("One of\\nall these\\n", "Un"), "msgstr \"Un\\n\"\n"));
  EXPECT_TRUE(po_has(translated("One", "C:\\n"), "msgstr \"C:\\\\n\"\n"));
}

TEST(Po, KeepsTagsAndAccessKeys) {
  const auto segment = [](const std::string& message) {
    return read_as("po", header + "msgid \"" + message + "\"\nmsgstr \"\"\n").segments.at(0);
  };
  for (const std::string message : {"&File", "_File", "~File", "F&ile", "Fi_le"}) {
    const DocumentSegment file = segment(message);
    EXPECT_EQ(file.text, "File");
    ASSERT_EQ(file.marks.size(), 1u) << message;
    EXPECT_EQ(render(file, "Datei", {}), std::string(1, message[message.find_first_of("&_~")]) + "Datei");
    EXPECT_EQ(file.original, message);
  }
  for (const std::string message : {"AT&T", "R & D", "file_name", "__init__", "a_b", "~20 files"})
    EXPECT_EQ(segment(message).text, message);
  const DocumentSegment tags = segment("Press <b class=\\\"x\\\">Q &amp; A</b> <1>now</1> or <enter>");
  EXPECT_EQ(tags.text, "Press Q & A now or");
  EXPECT_EQ(render_in_place(tags, rotated(tags.text)),
            "Cerff <b class=\\\"x\\\">D &amp; N</b> <1>abj</1> be");
}

TEST(Po, CompletesATemplatesHeader) {
  const std::string pot =
      "#, fuzzy\nmsgid \"\"\nmsgstr \"\"\n\"Language-Team: x\\n\"\n\"Language: \\n\"\n"
      "\"Content-Type: text/plain; charset=CHARSET\\n\"\n\nmsgid \"a\"\nmsgstr \"\"\n";
  const Document document = document_format("po", "").read(pot, {.name = "a.po", .to = "de"});
  EXPECT_EQ(document.write(Texts{"é"}),
            "#, fuzzy\nmsgid \"\"\nmsgstr \"\"\n\"Language-Team: x\\n\"\n\"Language: de\\n\"\n"
            "\"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"a\"\nmsgstr \"é\"\n");
}

TEST(Po, IsReadInTheCharsetOfItsHeaderAndWrittenInUtf8) {
  std::string latin = header + "# d\xE9j\xE0\nmsgid \"One\"\nmsgstr \"\"\n";
  latin.replace(latin.find("UTF-8"), 5, "ISO-8859-1");
  EXPECT_EQ(rotation_of_po(latin), header + "# déjà\nmsgid \"One\"\nmsgstr \"Bar\"\n");
}

TEST(Po, NamesTheLineThatIsWrong) {
  const auto why = [](const std::string& file) { return refusal("po", file); };
  EXPECT_TRUE(why("msgid \"a\"\nmsgid \"b\"\n").starts_with("test.po: line 2 begins a message"));
  EXPECT_TRUE(po_has(why("\n\nmsgid \"a\nmsgstr \"\"\n"), "line 3 has an unterminated string"));
  EXPECT_TRUE(po_has(why("msgid \"a\\\"\n"), "line 1 has an unterminated string"));
  EXPECT_TRUE(po_has(why("hello\n"), "line 1 does not begin with a string"));
  EXPECT_TRUE(po_has(why("\"a\"\n"), "line 1 has a string without a keyword"));
  EXPECT_TRUE(po_has(why("msgid \"a\" b\n"), "line 1 has something after a string"));
  EXPECT_TRUE(po_has(why("msgid \"a\"\nmsgstr[0] \"\"\n"), "no msgid_plural"));
  EXPECT_TRUE(po_has(why("msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[1] \"\"\n"), "out of order"));
  EXPECT_TRUE(po_has(why("msgid \"a\"\n"), "without msgstr"));
  EXPECT_TRUE(po_has(why("msgid \"\"\nmsgstr \"charset=ISO-8859-1\\n\"\n# é\n"), "but it is in UTF-8"));
  EXPECT_TRUE(po_has(why("msgid \"\"\nmsgstr \"charset=x-none\\n\"\n"), "unsupported encoding"));
}

// A catalogue, and what becomes of it when each word is rotated.
class Catalogue {
 public:
  explicit Catalogue(uint64_t seed) : random_(seed), line_break_(random_.below(4) == 0 ? "\r\n" : "\n") {
    add(header);
    for (uint64_t entry = 0, entries = 1 + random_.below(8); entry < entries; ++entry)
      add_entry("x" + std::to_string(10 * seed + entry) + " ");  // no message twice
    if (line_break_ == "\n") return;
    for (std::string* const file : {&source, &expected})
      for (size_t at = file->find('\n'); at != file->npos; at = file->find('\n', at + 2))
        file->insert(at, "\r");
  }

  std::string source, expected;

 private:
  struct Message {
    std::string text, rotated;
  };

  void add(const std::string& both) {
    source += both;
    expected += both;
  }

  Message message(bool may_end_lines) {
    Message result;
    const auto unit = [&](const std::string& text, bool rotates) {
      result.text += text;
      result.rotated += rotates ? rotated(text) : text;
    };
    if (may_end_lines && random_.below(6) == 0) unit("\\n", false);
    for (uint64_t units = 1 + random_.below(30); units > 0; --units) {
      std::string word;
      for (uint64_t size = 2 + random_.below(6); size > 0; --size)
        word += static_cast<char>('c' + random_.below(6));
      unit(word, true);
      if (units == 1) break;
      static const Texts between = {" ",   " ",   " ",     ", ",      "\\n", ".\\n\\n",
                                    "\\t", " é ", " \\\"", " <br/> ", "-"};
      unit(between[random_.below(between.size())], false);
    }
    if (may_end_lines && random_.below(6) == 0) unit("\\n", false);
    return result;
  }

  // Over several lines, broken anywhere but in an escape.
  std::string laid_out(const std::string& keyword, const std::string& text) {
    std::string field = keyword + " \"";
    for (size_t i = 0; i < text.size(); ++i) {
      if (random_.below(20) == 0) field += "\"\n \"";
      field += text[i];
      if (text[i] == '\\') field += text[++i];
      while (i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xC0) == 0x80)
        field += text[++i];
    }
    return field + "\"\n";
  }

  void add_entry(const std::string& first) {
    const bool is_fuzzy = random_.below(5) == 0, is_done = !is_fuzzy && random_.below(3) == 0;
    const bool has_plural = random_.below(4) == 0;
    if (random_.below(3) == 0) add("#. note\n#: file.c:12\n");
    source += is_fuzzy ? "#, c-format, fuzzy\n" : "#, c-format\n";
    expected += "#, c-format\n";
    if (random_.below(4) == 0) add("msgctxt \"words\"\n\"more words\"\n");
    for (int form = 0; form < 1 + has_plural; ++form) ids_[form] = message(!has_plural && !is_done);
    add(laid_out("msgid", first + ids_[0].text));
    if (has_plural) add(laid_out("msgid_plural", first + ids_[1].text));
    for (int form = 0; form < 1 + has_plural; ++form) {
      const std::string keyword = has_plural ? "msgstr[" + std::to_string(form) + "]" : "msgstr";
      const std::string old = keyword + (is_done || is_fuzzy ? " \"an old one\"\n" : " \"\"\n");
      source += old;
      expected += is_done ? old : po_field(keyword, rotated(first) + ids_[form].rotated, "\n") + "\n";
    }
    add(random_.below(4) == 0 ? "\n#~ msgid \"" + first + "\"\n#~ msgstr \"\"\n\n" : "\n");
  }

  Random random_;
  std::string line_break_;
  Message ids_[2];
};

TEST(Po, ChangesNothingButTranslationsOfGeneratedCatalogues) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Catalogue catalogue(seed);
    const std::string translated = rotation_of_po(catalogue.source);
    ASSERT_EQ(translated, catalogue.expected) << catalogue.source;
    ASSERT_EQ(read_as("po", translated).segments.size(), 0u);
    ASSERT_EQ(identity_of(read_as("po", translated)), translated);
  }
}

// gettext's own programs, where they are installed.
TEST(Po, IsLaidOutAsByMsgcatAndPassesMsgfmt) {
  if (std::system("msgcat --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "gettext is not installed";
  const TemporaryFolder folder;
  std::string file = header;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string source = Catalogue(seed).source.substr(header.size());
    if (!po_has(source, "\r")) file += source;
  }
  const std::string translated = rotation_of_po(file);
  std::ofstream(folder.path("a.po"), std::ios::binary) << translated;
  const std::string in_folder = "cd " + folder.path("") + " && ";
  EXPECT_EQ(std::system((in_folder + "msgfmt --check -o a.mo a.po 2> log || (cat log; false)").c_str()), 0);
  EXPECT_EQ(std::system((in_folder + "msgcat a.po -o b.po && msgcat b.po -o c.po && cmp b.po c.po").c_str()),
            0);
  std::ifstream laid_out(folder.path("b.po"), std::ios::binary);
  const std::string by_msgcat{std::istreambuf_iterator<char>(laid_out), {}};
  // msgcat lays out the messages too: those of the catalogue are not touched.
  const auto translations = [](const std::string& text) {
    std::string fields;
    for (size_t at = text.find("\nmsgstr"); at != text.npos; at = text.find("\nmsgstr", at + 1))
      fields += text.substr(at, text.find("\n\n", at) - at);
    return fields;
  };
  EXPECT_EQ(translations(translated), translations(by_msgcat + "\n"));
}

}  // namespace
}  // namespace dragoman::internal
