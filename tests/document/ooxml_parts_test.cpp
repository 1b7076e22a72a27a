// What slides and sheets have beside paragraphs as those of text documents.
#include <gtest/gtest.h>

#include "document/identity.h"
#include "document/packed.h"
#include "document/translation.h"

namespace dragoman::internal {
namespace {

struct Part {
  std::string name, type, xml;
};

Entries entries_of(const std::vector<Part>& parts) {
  std::string types;
  Entries entries;
  for (const Part& part : parts) {
    types += "<Override PartName=\"/" + part.name +
             "\" ContentType=\"application/vnd.openxmlformats-officedocument." + part.type + "+xml\"/>";
    entries.emplace_back(part.name, part.xml);
  }
  entries.insert(entries.begin(), {"[Content_Types].xml", "<Types>" + types + "</Types>"});
  return entries;
}

// The parts after translation.
std::vector<std::string> translated(const std::vector<Part>& parts) {
  const std::string file = packed(entries_of(parts));
  const Document document = read_as("xlsx", file);
  EXPECT_EQ(identity_of(document), file);
  std::vector<std::string> after;
  for (const auto& [name, bytes] : unpacked(in_upper_case(document))) after.push_back(bytes);
  after.erase(after.begin());
  return after;
}

std::string shared(const std::string& strings, const std::string& prefix = "") {
  return "<" + prefix + "sst xmlns" + (prefix.empty() ? "" : ":" + prefix.substr(0, prefix.size() - 1)) +
         "=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">" + strings + "</" + prefix + "sst>";
}

std::string translated_strings(const std::string& strings) {
  return translated({{"xl/sharedStrings.xml", "spreadsheetml.sharedStrings", shared(strings)}})[0];
}

TEST(Xlsx, StringsAreTranslatedLineByLine) {
  EXPECT_EQ(
      translated_strings("<si><t>One &amp; two</t></si><si><t xml:space=\"preserve\"> three\nfour </t></si>"),
      shared("<si><t>ONE &amp; TWO</t></si><si><t xml:space=\"preserve\"> THREE\nFOUR </t></si>"));
  const Part strings = {"xl/sharedStrings.xml", "spreadsheetml.sharedStrings",
                        shared("<si><t>a b\nc d</t></si>")};
  EXPECT_EQ(read_as("xlsx", packed(entries_of({strings}))).segments.size(), 2u);
}

TEST(Xlsx, CharactersWrittenAsNumbersStay) {
  EXPECT_EQ(translated_strings("<si><t>One_x000D_\ntwo</t></si><si><r><t>a_x0007_b_x</t></r></si>"),
            shared("<si><t>ONE_x000D_\nTWO</t></si><si><r><t xml:space=\"preserve\">A</t></r><r><t "
                   "xml:space=\"preserve\">_x0007_</t></r><r><t xml:space=\"preserve\">B_X</t></r></si>"));
  const Part strings = {"s.xml", "spreadsheetml.sharedStrings", shared("<si><t>Na_x000D_\nme</t></si>")},
             table = {"t.xml", "spreadsheetml.table",
                      "<table><tableColumn name=\"Na_x000D__x000a_me\"/></table>"};
  EXPECT_EQ(translated({strings, table})[0], strings.xml);
}

TEST(Xlsx, RichStringsKeepTheirFormatsAndReadings) {
  EXPECT_EQ(translated_strings(
                "<si><r><t xml:space=\"preserve\">A </t></r><r><rPr><b/></rPr><t>bold</t></r><r><t "
                "xml:space=\"preserve\"> move\nand</t></r><rPh sb=\"0\" eb=\"1\"><t>reading</t></rPh></si>"),
            shared("<si><r><t xml:space=\"preserve\">A </t></r><r><rPr><b/></rPr><t "
                   "xml:space=\"preserve\">BOLD</t></r><r>"
                   "<t xml:space=\"preserve\"> MOVE</t></r><r><t xml:space=\"preserve\">\n</t></r><r><t "
                   "xml:space=\"preserve\">AND</t></r><rPh sb=\"0\" eb=\"1\"><t>reading</t></rPh></si>"));
}

TEST(Xlsx, ElementsAreKnownByTheirNamespace) {
  const auto parts =
      translated({{"s.xml", "spreadsheetml.sharedStrings", shared("<x:si><x:t>word</x:t></x:si>", "x:")}});
  EXPECT_EQ(parts[0], shared("<x:si><x:t>WORD</x:t></x:si>", "x:"));
}

TEST(Xlsx, HeadingsOfTablesStayAndSoDoFormulas) {
  const std::string sheet =
      "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData><row><c "
      "t=\"inlineStr\">"
      "<is><t>Inline</t></is></c><c "
      "t=\"str\"><f>IF(A1,\"yes\",\"no\")</f><v>yes</v></c></row></sheetData></worksheet>";
  const auto parts = translated(
      {{"s.xml", "spreadsheetml.sharedStrings", shared("<si><t>Name</t></si><si><t>name</t></si>")},
       {"t.xml", "spreadsheetml.table", "<table><tableColumn name=\"Name\"/></table>"},
       {"w.xml", "spreadsheetml.worksheet", sheet}});
  EXPECT_EQ(parts[0], shared("<si><t>Name</t></si><si><t>NAME</t></si>"));
  std::string expected = sheet;
  expected.replace(expected.find("Inline<"), 6, "INLINE");
  EXPECT_EQ(parts[2], expected);
}

TEST(Xlsx, PartsAreFoundWhateverTheirNames) {
  const auto file = [](const std::string& text) {
    return Entries{{"[content_types].xml",
                    "<Types><Default Extension=\"XML\" ContentType=\"x.spreadsheetml.sharedStrings+xml\"/>"
                    "<Override PartName=\"/xl/styles.xml\" ContentType=\"styles\"/></Types>"},
                   {"xl\\Styles.xml", shared("<si><t>style</t></si>")},
                   {"xl\\shared.xml", shared("<si><t>" + text + "</t></si>")}};
  };
  EXPECT_EQ(unpacked(in_upper_case(read_as("xlsx", packed(file("word"))))), file("WORD"));
}

TEST(Pptx, FieldsAndBreaksStayAmongRuns) {
  const auto slide = [](const std::string& paragraph) {
    return "<p:sld xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" xmlns:p=\"p\"><a:p>" +
           paragraph + "</a:p></p:sld>";
  };
  const auto parts = translated({{"s.xml", "presentationml.slide",
                                  slide("<a:pPr lvl=\"1\"/><a:r><a:rPr lang=\"en-US\" b=\"1\"/><a:t>Slide "
                                        "</a:t></a:r><a:r><a:rPr lang=\"de-DE\" "
                                        "b=\"1\" dirty=\"0\"/><a:t>number </a:t></a:r><a:fld id=\"{1}\" "
                                        "type=\"slidenum\"><a:rPr/><a:t>7</a:t>"
                                        "</a:fld><a:br/><a:r><a:t>end</a:t></a:r><a:endParaRPr/>")}});
  EXPECT_EQ(
      parts[0],
      slide("<a:pPr lvl=\"1\"/><a:r><a:rPr lang=\"en-US\" b=\"1\"/><a:t>SLIDE NUMBER </a:t></a:r><a:fld "
            "id=\"{1}\" type=\"slidenum\"><a:rPr/><a:t>7</a:t></a:fld><a:br/><a:r><a:t>END</a:t></a:r>"
            "<a:endParaRPr/>"));
}

TEST(Pptx, ChartsHaveTranslatedNames) {
  const auto chart = [](const std::string& title, const std::string& name) {
    return "<c:chart xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" "
           "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"><a:p><a:r><a:t>" +
           title + "</a:t></a:r></a:p><c:strCache><c:pt><c:v>" + name +
           "</c:v></c:pt></c:strCache><c:numCache><c:formatCode>General</c:formatCode><c:pt><c:v>1e5</c:v></"
           "c:pt></c:numCache></c:chart>";
  };
  EXPECT_EQ(translated({{"c.xml", "drawingml.chart", chart("Title", "Spring")}})[0],
            chart("TITLE", "SPRING"));
}

}  // namespace
}  // namespace dragoman::internal
