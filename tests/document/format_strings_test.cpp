#include "document/messages/format_strings.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "document/messages/po_plurals.h"
#include "document/random_words.h"
#include "document/rotated.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using Texts = std::vector<std::string>;

const std::string po_header =
    "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=2; "
    "plural=(n != 1);\\n\"\n\n";

bool format_has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

Texts directives_of(std::string_view flag, std::string_view text) {
  Texts found;
  const auto places = directives(*format_grammar(flag), text);
  for (const TextSpan place : places.value()) found.emplace_back(place.of(text));
  return found;
}

std::string ordered(std::string_view flag, std::string_view message, std::string_view translation) {
  return with_arguments_in_order(*format_grammar(flag), message, translation).value_or("none");
}

TEST(FormatStrings, KnowTheDirectivesOfEachLanguage) {
  EXPECT_EQ(directives_of("c-format", "%-5d of %1$s, 5%%, % d %.*f%<PRIu64>"),
            (Texts{"%-5d", "%1$s", "% d", "%.*f", "%<PRIu64>"}));
  EXPECT_EQ(directives_of("python-format", "%(key)r %(a(b)c)05.2f %s"),
            (Texts{"%(key)r", "%(a(b)c)05.2f", "%s"}));
  EXPECT_EQ(directives_of("python-brace-format", "{0!r:>10} {{x}} {a.b[c]:{w}} {}"),
            (Texts{"{0!r:>10}", "{a.b[c]:{w}}", "{}"}));
  EXPECT_EQ(directives_of("java-format", "{0,number,#.#} it''s '{' '{a}' {1}"),
            (Texts{"{0,number,#.#}", "'{a}'", "{1}"}));
  EXPECT_EQ(directives_of("java-printf-format", "%1$tY %<tm %,d%n"), (Texts{"%1$tY", "%<tm", "%,d", "%n"}));
  EXPECT_EQ(directives_of("objc-format", "%@ %1$@"), (Texts{"%@", "%1$@"}));
  EXPECT_EQ(directives_of("ruby-format", "%<n>d %{name} %s"), (Texts{"%<n>d", "%{name}", "%s"}));
  EXPECT_EQ(directives_of("php-format", "%'*10s %1$04d"), (Texts{"%'*10s", "%1$04d"}));
  EXPECT_EQ(directives_of("qt-plural-format", "%n of %L1 at 5%"), (Texts{"%n", "%L1"}));
  EXPECT_EQ(directives_of("sh-format", "$name ${other}"), (Texts{"$name", "${other}"}));
  EXPECT_EQ(directives_of("c-format", "100% %d"), Texts{"% %"});
  for (const std::string text : {"100%", "%y", "%(a"})
    EXPECT_FALSE(directives(*format_grammar("python-format"), text)) << text;
  EXPECT_EQ(format_grammar("no-c-format"), nullptr);
}

TEST(FormatStrings, NumberArgumentsThatChangeTheirOrder) {
  EXPECT_EQ(ordered("c-format", "%s in %d", "%d: %s"), "%2$d: %1$s");
  EXPECT_EQ(ordered("c-format", "%d %s %d", "%s %d %d"), "%2$s %1$d %3$d");
  EXPECT_EQ(ordered("c-format", "%s and %s", "%s et %s"), "%s et %s");
  EXPECT_EQ(ordered("c-format", "%1$s in %2$d", "%2$d: %1$s"), "%2$d: %1$s");
  EXPECT_EQ(ordered("c-format", "%*d in %s", "%s: %*d"), "none");
  EXPECT_EQ(ordered("c-format", "%s in %d", "%s"), "none");
  EXPECT_EQ(ordered("c-format", "%s in %d", "%s %d %"), "none");
  EXPECT_EQ(ordered("python-format", "%s in %d", "%d: %s"), "none");
  EXPECT_EQ(ordered("python-format", "%(a)s in %(b)d", "%(b)d: %(a)s"), "%(b)d: %(a)s");
  EXPECT_EQ(ordered("python-brace-format", "{} in {:d}", "{:d}: {}"), "none");
}

TEST(PluralForms, AreThoseOfTheHeader) {
  EXPECT_EQ(plural_value("n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2", 21), 0u);
  EXPECT_EQ(plural_value("n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2", 0), 2u);
  EXPECT_EQ(plural_value(" !(n > 1) || 2 * n - 3 == 7 ", 5), 1u);
  for (const std::string& wrong :
       Texts{"", "n)", "n ? 1", "x", "1 +", std::string(100'000, '('), std::string(100'000, '!')})
    EXPECT_FALSE(plural_value(wrong, 1)) << wrong.substr(0, 10);
  const PluralForms arabic = plural_forms("nplurals=3; plural=n==0 ? 0 : n==1 ? 1 : 2;\\n");
  EXPECT_EQ(arabic.count, 3u);
  EXPECT_EQ(arabic.of_one, 1u);
  EXPECT_EQ(arabic.often, (std::vector<bool>{false, false, true}));
  EXPECT_EQ(plural_forms("nplurals=2; plural=n;").of_one, 0u);
}

std::string entry(const std::string& flags, const std::string& message) {
  return "#, " + flags + "\nmsgid \"" + message + "\"\nmsgstr \"\"\n\n";
}

std::string translation_of(const std::string& file, const Texts& rendered) {
  const Document document = read_as("po", file);
  Texts texts;
  for (size_t i = 0; i < document.segments.size(); ++i)
    texts.push_back(render(document.segments[i], rendered.at(i), {}));
  return document.write(texts);
}

TEST(FormatStrings, ShowTextAsItReads) {
  const Document document = read_as("po", po_header + entry("c-format", "50%% of %ss, %dpx"));
  ASSERT_EQ(texts_of(document), Texts{"50% of %ss, %dpx"});
  EXPECT_TRUE(
      format_has(translation_of(po_header + entry("c-format", "50%% of %ss, %dpx"), {"%ss: 50 %, %dpx"}),
                 "msgstr \"%ss: 50 %%, %dpx\""));
  EXPECT_TRUE(
      format_has(translation_of(po_header + entry("python-brace-format", "a {{b}} {0}"), {"c {d} {0}"}),
                 "\"c {{d}} {0}\""));
  EXPECT_TRUE(
      format_has(translation_of(po_header + entry("java-format", "in {0}"), {"l'an {0}"}), "\"l''an {0}\""));
  EXPECT_TRUE(format_has(translation_of(po_header + entry("qt-format", "%1 of us"), {"50 %2 de %1"}),
                         "\"50 % 2 de %1\""));
}

TEST(FormatStrings, MarkAsFuzzyWhatNoProgramCouldFormat) {
  const std::string file = po_header + entry("python-format", "%s in %d") + entry("c-format", "%s in %d");
  EXPECT_EQ(translation_of(file, {"%d: %s", "%d: %s"}),
            po_header + "#, fuzzy, python-format\nmsgid \"%s in %d\"\nmsgstr \"%d: %s\"\n\n" +
                "#, c-format\nmsgid \"%s in %d\"\nmsgstr \"%2$d: %1$s\"\n\n");
  EXPECT_TRUE(read_as("po", po_header + entry("gfc-internal-format", "%C is %L")).segments.empty());
}

std::string plural_entry(const std::string& forms, const std::string& singular) {
  std::string file = po_header + "#, c-format\nmsgid \"" + singular +
                     "\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n\n";
  file.replace(file.find("nplurals="), file.find("\\n\"\n\n") - file.find("nplurals="), forms);
  return file;
}

TEST(FormatStrings, MayBeMissingInTheSingular) {
  const auto texts = [](const std::string& forms, const std::string& singular) {
    return texts_of(read_as("po", plural_entry(forms, singular)));
  };
  EXPECT_EQ(texts("nplurals=2; plural=(n != 1);", "One file"), (Texts{"One file", "%d files"}));
  EXPECT_EQ(texts("nplurals=2; plural=n%10!=1;", "One file"), (Texts{"%d files"}));
  EXPECT_EQ(texts("nplurals=2; plural=n%10!=1;", "%d file"), (Texts{"%d file", "%d files"}));
  EXPECT_EQ(texts("nplurals=2; plural=(n != 1);", "One file in %s"), (Texts{"%d files"}));
  EXPECT_TRUE(
      format_has(translation_of(plural_entry("nplurals=2; plural=(n == 1);", "One file"), {"Une", "%d"}),
                 "msgstr[0] \"%d\"\nmsgstr[1] \"Une\"\n"));
}

// A message of words and what its language could take for a directive.
std::string message_in(const FormatGrammar& grammar, Random& random) {
  static const Texts units = {
      "word",        "%s",    "%d",   "%(key)r", "%(n)d",    "%-5d", "%1$s",
      "%2$s",        "%%",    "% d",  "{0}",     "{1}",      "{a}",  "{{b}}",
      "%.*f",        "%5.2f", "{}",   "{0:>8}",  "%@",       "%x",   "''",
      "'{'",         "${x}",  "$y",   "%L1",     "%1",       "%2",   "%n",
      "%<k>s",       "%{k}",  "it's", "100%",    "%lu",      "~a",   "~s",
      "~~",          "~5d",   "file", "&Open",   "<b>x</b>", "%c",   "<a href=\\\"%s\\\">it</a>",
      "{0,number,#}"};
  std::string message = "x";
  for (uint64_t n = 1 + random.below(5); n > 0; --n) {
    const std::string& unit = units[random.below(units.size())];
    if (unit.find_first_of(format_signs(grammar)) == unit.npos && random.below(3) > 0) continue;
    message += (random.below(4) == 0 ? "" : " ") + unit;
  }
  return message;
}

// With messages of every language, some of them with plurals.
std::string catalogue_of_format_strings(const std::string& plural) {
  std::string file = po_header;
  file.replace(file.find("plural=("), 16, plural);
  Random random(file.size());
  size_t entries = 0;
  for (const std::string flag : {"c",           "objc",       "python",       "python-brace", "java",
                                 "java-printf", "javascript", "php",          "perl",         "perl-brace",
                                 "ruby",        "awk",        "lua",          "tcl",          "elisp",
                                 "librep",      "qt",         "qt-plural",    "kde",          "ycp",
                                 "csharp",      "sh",         "lisp",         "scheme",       "gcc-internal",
                                 "boost",       "smalltalk",  "gfc-internal", "object-pascal"}) {
    const FormatGrammar* grammar = format_grammar(flag + "-format");
    if (grammar == nullptr) grammar = format_grammar("c-format");
    for (int i = 0; i < 60; ++i) {
      const std::string id = message_in(*grammar, random);
      file += fmt::format("#, {}-format\nmsgctxt \"{}\"\nmsgid \"", flag, ++entries);
      if (random.below(3) > 0)
        file += id + "\"\nmsgstr \"\"\n\n";
      else
        file += message_in(*grammar, random) + "\"\nmsgid_plural \"" + id +
                "\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n\n";
    }
  }
  return file;
}

// gettext is the judge of what it knows.
TEST(FormatStrings, PassMsgfmtWhateverTheTranslationIs) {
  if (std::system("msgfmt --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "gettext is not installed";
  const TemporaryFolder folder;
  for (const char* const plural :
       {"plural=(n != 1);", "plural=(n > 1);", "plural=n%10!=1;", "plural=n==1;"}) {
    const std::string file = catalogue_of_format_strings(plural);
    const std::string translated = in_random_words(read_as("po", file), 1);
    std::ofstream(folder.path("a.po"), std::ios::binary) << translated;
    const std::string check =
        "cd " + folder.path("") + " && msgfmt --check -o a.mo a.po 2> log || (cat log; false)";
    ASSERT_EQ(std::system(check.c_str()), 0);
    const auto count = [](std::string_view text, std::string_view part) {
      size_t found = 0;
      for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
      return found;
    };
    EXPECT_LT(count(translated, "#, fuzzy"), count(file, "msgctxt") / 20);
  }
}

// Catalogues of your own: DRAGOMAN_CATALOGUES=FOLDER has files that msgfmt accepts, with their translations taken away.
TEST(FormatStrings, PassMsgfmtInCataloguesOfAFolder) {
  const char* const folder = std::getenv("DRAGOMAN_CATALOGUES");
  if (folder == nullptr) GTEST_SKIP() << "DRAGOMAN_CATALOGUES is not set";
  for (const auto& path : std::filesystem::directory_iterator(folder)) {
    if (path.path().extension() != ".po") continue;
    std::ifstream file(path.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::string translated = path.path().string() + ".translated";
    std::ofstream(translated, std::ios::binary) << in_random_words(read_as("po", bytes), bytes.size());
    EXPECT_EQ(std::system(("msgfmt --check -o /dev/null " + translated).c_str()), 0) << path;
  }
}

}  // namespace
}  // namespace dragoman::internal
