#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "base/random.h"
#include "document/identity.h"
#include "document/packed.h"
#include "document/translation.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

constexpr const char* root =
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\r\n"
    "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" xmlns:r=\"r\" "
    "xmlns:m=\"m\" xmlns:v=\"v\">";

// Paragraphs with everything that Word writes into them, whose words are all different.
class RandomDocument {
 public:
  explicit RandomDocument(uint64_t seed) : random_(seed) {
    xml_ = root;
    xml_ += "<w:body>";
    paragraphs(4, 2);
    xml_ += "<w:sectPr/></w:body></w:document>";
  }

  const std::string& xml() const { return xml_; }
  int words() const { return words_; }

 private:
  bool one_in(uint64_t n) { return random_.below(n) == 0; }

  void paragraphs(uint64_t most, int depth) {
    for (uint64_t n = random_.below(most); n > 0; --n) {
      if (one_in(5)) xml_ += "\n  ";
      if (one_in(6)) xml_ += "<w:p/>";
      xml_ += one_in(2) ? "<w:p>" : "<w:p w:rsidR=\"0\"><w:pPr><w:rPr><w:b/></w:rPr></w:pPr>";
      contents(6, depth);
      xml_ += "</w:p>";
    }
  }

  void contents(uint64_t most, int depth) {
    for (uint64_t n = random_.below(most); n > 0; --n) {
      switch (random_.below(depth > 0 ? 13 : 7)) {
        case 0:
          xml_ += one_in(2) ? "<w:bookmarkStart w:id=\"1\"/>" : "<w:bookmarkEnd w:id=\"1\"/>";
          break;
        case 1:
          xml_ += "<w:proofErr w:type=\"spellStart\"/>";
          break;
        case 2:
          xml_ += one_in(2) ? "<m:oMath><m:r><w:rPr/><m:t>x</m:t></m:r></m:oMath>" : "<!-- a comment -->";
          break;
        case 7:
          around("<w:hyperlink r:id=\"1\">", "</w:hyperlink>", depth);
          break;
        case 8:
          around("<w:ins w:id='2'>", "</w:ins>", depth);
          xml_ += "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>";
          break;
        case 9:
          around("<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtContent>", "</w:sdtContent></w:sdt>", depth);
          break;
        case 10:
          field(depth);
          break;
        case 11:
          xml_ += "<w:r><w:pict><v:textbox><w:txbxContent>";
          paragraphs(3, depth - 1);
          xml_ += "</w:txbxContent></v:textbox></w:pict></w:r>";
          break;
        default:
          run();
      }
    }
  }

  void around(const std::string& open, const std::string& close, int depth) {
    xml_ += open;
    contents(4, depth - 1);
    xml_ += close;
  }

  void field(int depth) {
    xml_ += "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText> REF x </w:instrText></w:r>";
    const bool has_text = !one_in(6);
    if (has_text) {
      xml_ += "<w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>";
      contents(3, depth - 1);
    }
    if (has_text && one_in(6)) return;  // it continues in another paragraph
    xml_ += "<w:r><w:rPr><w:u/></w:rPr><w:fldChar w:fldCharType=\"end\"/></w:r>";
  }

  void run() {
    static const std::vector<std::string> formats = {"", "<w:rPr><w:b/></w:rPr>",
                                                     "<w:rPr><w:i/><w:lang w:val=\"en-US\"/></w:rPr>",
                                                     "<w:rPr><w:lang w:val=\"en-GB\"/></w:rPr>"};
    xml_ += one_in(3) ? "<w:r w:rsidR=\"00A\">" : "<w:r>";
    xml_ += formats[random_.below(formats.size())];
    for (uint64_t n = random_.below(4); n > 0; --n) {
      switch (random_.below(9)) {
        case 0:
          xml_ += "<w:tab/>";
          break;
        case 1:
          xml_ += one_in(2) ? "<w:br w:type=\"page\"/>" : "<w:footnoteReference w:id=\"3\"/>";
          break;
        case 2:
          xml_ += "<w:lastRenderedPageBreak/><w:t/>";
          break;
        default:
          text();
      }
    }
    xml_ += "</w:r>";
  }

  void text() {
    xml_ += one_in(2) ? "<w:t xml:space=\"preserve\">" : "<w:t>";
    if (one_in(3)) xml_ += ' ';
    for (uint64_t n = random_.below(4); n > 0; --n) {
      static const std::vector<std::string> tails = {
          " ", " &amp; ", ", ", " &#x2014; ", " 12 ", " \xC3\xA9\xC3\xA8 ", "  "};
      xml_ += "w" + std::to_string(++words_) + "q" + tails[random_.below(tails.size())];
    }
    xml_ += "</w:t>";
  }

  Random random_;
  std::string xml_;
  int words_ = 0;
};

bool is_of_runs(std::string_view name) {
  static const std::vector<std::string_view> names = {
      "w:r", "w:rPr", "w:t", "w:b", "w:i", "w:u", "w:lang", "w:proofErr", "w:lastRenderedPageBreak"};
  return std::ranges::count(names, name) > 0;
}

// How often each tag is there, without those of runs, and the text outside w:t.
std::map<std::string, int> tags_of(const std::string& xml) {
  std::map<std::string, int> tags;
  XmlTokens tokens(xml);
  for (XmlToken token; tokens.next(token);)
    if ((token.is_tag() && !is_of_runs(token.name)) || token.kind == XmlToken::Kind::comment)
      ++tags[std::string(token.bytes)];
  return tags;
}

// Each letter of the text with its run's description.
std::vector<std::string> formats_of(const std::string& xml) {
  std::vector<std::string> formats;
  std::string format;
  bool in_text = false, in_format = false;
  XmlTokens tokens(xml);
  for (XmlToken token; tokens.next(token);) {
    const bool start = token.kind == XmlToken::Kind::start;
    if (token.name == "w:r") format.clear();
    if (token.name == "w:rPr") in_format = start;
    if (in_format && token.name != "w:lang" && token.name != "w:rPr") format += token.bytes;
    if (token.name == "w:t") in_text = start;
    if (!in_text || token.kind != XmlToken::Kind::text) continue;
    for (const char c : decode_xml(token.bytes))
      if (std::isalnum(static_cast<unsigned char>(c)))
        formats.push_back(upper_case(std::string_view(&c, 1)) + format);
  }
  return formats;
}

std::string document_xml(const std::string& package) { return unpacked(package).at(1).second; }

TEST(Docx, ComesBackWholeWhateverStandsInItsParagraphs) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const RandomDocument random(seed);
    const std::string file = docx_with(random.xml());
    const Document document = read_as("docx", file);
    ASSERT_EQ(identity_of(document), file) << seed;
    std::string all;
    for (const DocumentSegment& segment : document.segments) all += " " + segment.text;
    for (int word = 1; word <= random.words(); ++word) {
      const std::string name = "w" + std::to_string(word) + "q";
      const size_t first = all.find(name);
      ASSERT_TRUE(first != std::string::npos && all.find(name, first + 1) == std::string::npos)
          << name << all << random.xml();
    }
    for (const std::string& changed : {in_upper_case(document), in_other_words(document)}) {
      if (document.segments.empty()) break;
      const std::string xml = document_xml(changed);
      ASSERT_EQ(tags_of(xml), tags_of(random.xml())) << random.xml() << "\n" << xml;
      ASSERT_EQ(read_as("docx", changed).segments.size(), document.segments.size()) << seed;
    }
    ASSERT_EQ(formats_of(document_xml(in_upper_case(document))), formats_of(random.xml()))
        << random.xml() << document_xml(in_upper_case(document));
  }
}

TEST(Docx, ParagraphsThatDoNotChangeStayByteForByte) {
  const auto file = [](const std::string& text) {
    return std::string(root) +
           "<w:body><w:p><w:r w:rsidR=\"1\"><w:t>The same</w:t></w:r><w:r><w:t> "
           "&#x77;ords</w:t></w:r></w:p><w:p><w:r>" +
           text + "</w:r></w:p></w:body></w:document>";
  };
  const Document document = read_as("docx", docx_with(file("<w:t>other</w:t>")));
  ASSERT_EQ(document.segments.size(), 2u);
  EXPECT_EQ(document.segments[0].text, "The same words");
  const std::string changed = document.write(
      std::vector<std::string>{document.segments[0].original, render(document.segments[1], "Autre", {})});
  EXPECT_EQ(document_xml(changed), file("<w:t xml:space=\"preserve\">Autre</w:t>"));
}

}  // namespace
}  // namespace dragoman::internal
