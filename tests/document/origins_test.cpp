// Files that say where their translations are from.
#include <array>

#include <gtest/gtest.h>

#include "base/random.h"
#include "document/bilingual.h"
#include "document/identity.h"
#include "document/in_place.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using OriginKind = TranslationOrigin::Kind;
using Origins = std::vector<TranslationOrigin>;

Document read_marked(std::string_view format, std::string_view bytes) {
  return document_format(format, "").read(bytes, {.name = "test", .to = "fr", .mark_unconfirmed = true});
}

std::vector<std::string> upper_case_segments(const Document& document) {
  std::vector<std::string> rendered;
  for (const DocumentSegment& segment : document.segments)
    rendered.push_back(render(segment, upper_case(segment.text), {}));
  return rendered;
}

std::string with_origins(std::string_view format, std::string_view bytes, const Origins& origins) {
  const Document document = read_marked(format, bytes);
  EXPECT_EQ(document.segments.size(), origins.size());
  return document.write_with_origins(upper_case_segments(document), origins);
}

Origins all_of_kind(OriginKind kind, const Document& document) {
  return {document.segments.size(), TranslationOrigin{.kind = kind}};
}

std::string without_part(std::string text, std::string_view part) {
  for (size_t at = text.find(part); at != text.npos; at = text.find(part)) text.erase(at, part.size());
  return text;
}

const TranslationOrigin like_open = {
    .kind = OriginKind::similar,
    .matches = {{"Open & <shut>", "Ouvrir & <fermer>", 0.857}, {"Open it", "Ouvrez", 0.5}}};

std::string first_version(const std::string& units) {
  return "<xliff version=\"1.2\"><file source-language=\"en\" target-language=\"fr\"><body>" + units +
         "</body></file></xliff>";
}

std::string unit_with(const std::string& contents) {
  return first_version("<trans-unit id=\"1\">\n  <source>Open</source>" + contents + "</trans-unit>");
}

std::string second_version(const std::string& unit) {
  return "<xliff xmlns=\"urn:oasis:names:tc:xliff:document:2.0\" version=\"2.0\" srcLang=\"en\" "
         "trgLang=\"fr\"><file id=\"f\">" +
         unit + "</file></xliff>";
}

TEST(Origins, AreTheStateOfATarget) {
  const auto target = [](OriginKind kind, const std::string& before = "") {
    const std::string out = with_origins("xliff", unit_with(before), {{.kind = kind}});
    const size_t begin = out.find("<target");
    return out.substr(begin, out.find('>', begin) + 1 - begin);
  };
  EXPECT_EQ(target(OriginKind::confirmed), "<target state=\"translated\" state-qualifier=\"exact-match\">");
  EXPECT_EQ(target(OriginKind::similar),
            "<target state=\"needs-review-translation\" state-qualifier=\"fuzzy-match\">");
  EXPECT_EQ(target(OriginKind::machine),
            "<target state=\"needs-review-translation\" state-qualifier=\"mt-suggestion\">");
  EXPECT_EQ(target(OriginKind::copied), "<target state=\"needs-review-translation\">");
  EXPECT_EQ(target(OriginKind::confirmed, "<target state-qualifier=\"x\" state=\"new\">Open</target>"),
            "<target state-qualifier=\"exact-match\" state=\"translated\">");
}

TEST(Origins, SimilarSegmentsStandBehindATarget) {
  const std::string there = "<alt-trans><source>Open it</source><target>Ouvrez</target></alt-trans>";
  EXPECT_EQ(
      with_origins("xliff", unit_with(there), {like_open}),
      unit_with(
          "\n  <target state=\"needs-review-translation\" state-qualifier=\"fuzzy-match\">OPEN</target>\n  "
          "<alt-trans match-quality=\"85\" origin=\"memory\"><source>Open &amp; &lt;shut&gt;</source>"
          "<target>Ouvrir &amp; &lt;fermer&gt;</target></alt-trans>\n  <alt-trans match-quality=\"50\" "
          "origin=\"memory\"><source>Open it</source><target>Ouvrez</target></alt-trans>" +
          there));
}

// Which is as good as its worst part, and to which nothing similar to a part of it is similar.
TEST(Origins, AUnitOfSeveralSegmentsHasOne) {
  const std::string file = first_version(
      "<trans-unit id=\"1\"><source>One. Two.</source><seg-source><mrk mtype=\"seg\" mid=\"0\">One.</mrk> "
      "<mrk mtype=\"seg\" mid=\"1\">Two.</mrk></seg-source></trans-unit>");
  for (const Origins& origins : {Origins{like_open, {.kind = OriginKind::confirmed}},
                                 Origins{{.kind = OriginKind::confirmed}, like_open}}) {
    const std::string out = with_origins("xliff", file, origins);
    EXPECT_NE(out.find("state-qualifier=\"fuzzy-match\""), std::string::npos) << out;
    EXPECT_EQ(out.find("alt-trans"), std::string::npos) << out;
  }
}

TEST(Origins, Version2HasThemAtSegmentsAndMatchesInUnits) {
  const auto unit = [](const std::string& matches, const std::string& a, const std::string& b) {
    return second_version("<unit id=\"1\">" + matches + "\n <segment id=\"a\"" + a + "\n <segment id=\"b\"" +
                          b + "\n <segment state=\"final\"/></unit>");
  };
  const std::string source = "><source>Open</source>";
  EXPECT_EQ(with_origins("xliff", unit("", source + "</segment>", source + "</segment>"),
                         {{.kind = OriginKind::confirmed}, like_open}),
            unit("\n <mtc:matches xmlns:mtc=\"urn:oasis:names:tc:xliff:matches:2.0\">\n   <mtc:match "
                 "ref=\"#b\" similarity=\"85\" matchQuality=\"85\" origin=\"memory\"><source>Open &amp; "
                 "&lt;shut&gt;</source><target>Ouvrir &amp; &lt;fermer&gt;</target></mtc:match>\n   "
                 "<mtc:match ref=\"#b\" similarity=\"50\" matchQuality=\"50\" origin=\"memory\"><source>Open "
                 "it</source><target>Ouvrez</target></mtc:match>\n </mtc:matches>",
                 " state=\"translated\" subState=\"dragoman:exact-match\"" + source +
                     "<target>OPEN</target></segment>",
                 " state=\"initial\" subState=\"dragoman:fuzzy-match\"" + source +
                     "<target>OPEN</target></segment>"));
}

// A unit has them once, and they name a segment by its id.
TEST(Origins, Version2HasNoMatchesWhereThereIsNoPlaceForThem) {
  const std::string there =
      "<m:matches xmlns:m=\"urn:oasis:names:tc:xliff:matches:2.0\"><m:match "
      "ref=\"#a\"><source>x</source><target>y</target></m:match></m:matches>";
  const std::string segment = "<segment id=\"a\"><source>Open</source></segment>";
  for (const std::string& unit : {there + segment, std::string("<segment><source>Open</source></segment>")}) {
    const std::string out =
        with_origins("xliff", second_version("<unit id=\"1\">" + unit + "</unit>"), {like_open});
    EXPECT_EQ(out.find("mtc:match"), std::string::npos) << out;
    EXPECT_NE(out.find("dragoman:fuzzy-match"), std::string::npos) << out;
    if (unit.starts_with(there)) {
      EXPECT_NE(out.find("<unit id=\"1\">" + there + "<segment"), std::string::npos) << out;
    }
  }
  const std::string two =
      second_version("<unit id=\"1\">" + there + segment + "</unit><unit id=\"2\">" + segment + "</unit>");
  EXPECT_NE(with_origins("xliff", two, {like_open, like_open}).find("<unit id=\"2\"><mtc:matches"),
            std::string::npos);
}

TEST(Origins, ElementsHaveTheFilesPrefix) {
  const std::string file =
      "<x:xliff xmlns:x=\"urn:oasis:names:tc:xliff:document:1.2\" version=\"1.2\"><x:file "
      "source-language=\"en\"><x:body><x:trans-unit id=\"1\"><x:source>Open</x:source></x:trans-unit>"
      "</x:body></x:file></x:xliff>";
  EXPECT_NE(with_origins("xliff", file, {like_open})
                .find("OPEN</x:target><x:alt-trans match-quality=\"85\" origin=\"memory\"><x:source>Open "),
            std::string::npos);
}

// Without the qualifiers it is the file that says nothing, byte for byte, in UTF-8 and not.
TEST(Origins, NothingElseChanges) {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    std::string units;
    for (uint64_t n = 1 + random.below(4); n > 0; --n)
      units += std::array{"<trans-unit id=\"1\"><source>A <g id=\"1\">b</g>c\xC3\xA9</source></trans-unit>\n",
                          "<trans-unit id=\"2\"><source>A</source><target>B</target></trans-unit>",
                          "<trans-unit id=\"3\"><source>12</source><target/></trans-unit>",
                          "<trans-unit id=\"4\" approved=\"yes\"><source>A</source></trans-unit><!-- c -->",
                          "<group><note>n</note></group>"}[random.below(5)];
    const std::string mark = std::array{"", byte_order_mark.data()}[random.below(2)];
    const Document document = read_marked("xliff", mark + first_version(units));
    const auto rendered = upper_case_segments(document);
    const std::string plain = document.write(rendered);
    ASSERT_EQ(document.write_with_origins(rendered, {}), plain);
    ASSERT_EQ(without_part(document.write_with_origins(rendered, all_of_kind(OriginKind::machine, document)),
                           " state-qualifier=\"mt-suggestion\""),
              plain);
  }
  const std::string latin =
      "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>" + first_version("<!-- \xE9 -->");
  EXPECT_EQ(with_origins("xliff", latin, {}), latin);
  std::string with_unit = latin;
  with_unit.insert(latin.find("</body>"), "<trans-unit id=\"1\"><source>12 a</source></trans-unit>");
  EXPECT_NE(with_origins("xliff", with_unit, {{.kind = OriginKind::machine}}).find("mt-suggestion"),
            std::string::npos);
}

const std::string catalogue_header =
    "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=2; "
    "plural=(n != 1);\\n\"\n\n";

TEST(Origins, UnconfirmedMessagesAreFuzzy) {
  const auto marked = [](const std::string& message, const Origins& origins) {
    const std::string out = with_origins("po", catalogue_header + message, origins);
    EXPECT_TRUE(out.starts_with(catalogue_header)) << out;
    return out.substr(catalogue_header.size());
  };
  const Origins machine = {{.kind = OriginKind::machine}};
  EXPECT_EQ(marked("# c\n#: a.c:1\nmsgctxt \"x\"\nmsgid \"Open\"\nmsgstr \"\"\n", machine),
            "# c\n#: a.c:1\n#, fuzzy\nmsgctxt \"x\"\nmsgid \"Open\"\nmsgstr \"OPEN\"\n");
  EXPECT_EQ(marked("#, c-format\n#, no-wrap\nmsgid \"Open\"\nmsgstr \"\"\n", {like_open}),
            "#, fuzzy, c-format\n#, no-wrap\nmsgid \"Open\"\nmsgstr \"OPEN\"\n");
  EXPECT_EQ(marked("#, fuzzy\n#| msgid \"Opn\"\nmsgid \"Open\"\nmsgstr \"Ouv\"\n", machine),
            "#, fuzzy\nmsgid \"Open\"\nmsgstr \"OPEN\"\n");
  EXPECT_EQ(marked("#| msgid \"Opn\"\nmsgid \"Open\"\nmsgstr \"\"\n", machine),
            "#, fuzzy\n#| msgid \"Opn\"\nmsgid \"Open\"\nmsgstr \"OPEN\"\n");
  EXPECT_EQ(marked("msgid \"Open\"\r\nmsgstr \"\"\r\n", machine),
            "#, fuzzy\r\nmsgid \"Open\"\r\nmsgstr \"OPEN\"\r\n");
  const std::string plural = "msgid \"a file\"\nmsgid_plural \"files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n";
  EXPECT_TRUE(marked(plural, {{.kind = OriginKind::confirmed}, {.kind = OriginKind::machine}})
                  .starts_with("#, fuzzy\n"));
  EXPECT_TRUE(marked(plural, {{.kind = OriginKind::machine}, {.kind = OriginKind::confirmed}})
                  .starts_with("#, fuzzy\n"));
}

TEST(Origins, ConfirmedMessagesAreNotFuzzy) {
  const std::string file = catalogue_header +
                           "#, fuzzy, c-format\n#| msgid \"x\"\nmsgid \"Open %s\"\nmsgstr \"y\"\n\nmsgctxt "
                           "\"c\"\nmsgid \"Edit\"\nmsgstr \"\"\n";
  const Document document = read_marked("po", file);
  const auto rendered = upper_case_segments(document);
  const std::string plain = read_as("po", file).write(rendered);
  for (const OriginKind kind : {OriginKind::confirmed, OriginKind::copied})
    EXPECT_EQ(document.write_with_origins(rendered, all_of_kind(kind, document)), plain);
  EXPECT_EQ(document.write(rendered), plain);
  EXPECT_EQ(read_as("po", file).write_with_origins, nullptr) << "nobody asked for marks";
}

// What a person has not seen yet is not what a memory learns.
TEST(Origins, OnlyConfirmedTranslationsAreReadBack) {
  const TemporaryFolder folder;
  const auto read_back = [&](const std::string& name, const std::string& bytes) {
    const std::string path = folder.write(name, bytes);
    std::vector<std::string> sources;
    read_bilingual(path, {.name = path}, [&](const BilingualText& text) { sources.push_back(text.source); });
    return sources;
  };
  const Origins origins = {{.kind = OriginKind::machine}, {.kind = OriginKind::confirmed}, like_open};
  std::string first, second, messages = catalogue_header;
  for (const std::string word : {"one", "two", "three"}) {
    first += "<trans-unit id=\"" + word + "\"><source>" + word + "</source></trans-unit>";
    second += "<segment id=\"" + word + "\"><source>" + word + "</source></segment>";
    messages += "msgid \"" + word + "\"\nmsgstr \"\"\n\n";
  }
  const std::vector<std::string> confirmed = {"two"};
  EXPECT_EQ(read_back("a.xlf", with_origins("xliff", first_version(first), origins)), confirmed);
  EXPECT_EQ(read_back("b.xlf",
                      with_origins("xliff", second_version("<unit id=\"u\">" + second + "</unit>"), origins)),
            confirmed);
  EXPECT_EQ(read_back("c.po", with_origins("po", messages, origins)), confirmed);
}

}  // namespace
}  // namespace dragoman::internal
