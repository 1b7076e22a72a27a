#include "data/sentence_reader.h"

#include <zlib.h>

#include <gtest/gtest.h>

#include "base/error.h"
#include "data/corpus.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

class SentenceReaderTest : public testing::Test {
 protected:
  // Pairs as "source | target", or the error.
  std::vector<std::string> pairs_of(const std::string& source, const std::string& target,
                                    TextFormat format = TextFormat::automatic) {
    std::vector<std::string> pairs;
    try {
      CorpusReader reader({{source, target, format}}, false, 0);
      for (RawPair pair; reader.next(pair);)
        pairs.push_back(std::string(pair.source) + " | " + std::string(pair.target));
    } catch (const Error& error) {
      pairs.push_back(error.what());
    }
    return pairs;
  }

  TemporaryFolder folder;
};

using Pairs = std::vector<std::string>;

TEST_F(SentenceReaderTest, NamesTellTheFormat) {
  const auto format_of = [](const char* path) { return format_of_file(path, TextFormat::automatic); };
  for (const char* path : {"a/IWSLT16.TED.tst2012.de-en.de.xml", "x.sgm", "x.sgml", "x.sgm.gz", "x.xml.zst"})
    EXPECT_EQ(format_of(path), TextFormat::sgm) << path;
  for (const char* path : {"a/train.tags.de-en.de", "train.tags.de-en.de.gz"})
    EXPECT_EQ(format_of(path), TextFormat::iwslt) << path;
  for (const char* path : {"a", "train.de", "train.tags.de-en/train.de", "a.xml/b", "a.gz", "-"})
    EXPECT_EQ(format_of(path), TextFormat::text) << path;
  EXPECT_EQ(format_of_file("x.sgm", TextFormat::text), TextFormat::text);
}

TEST_F(SentenceReaderTest, TagsBetweenLinesAreSkipped) {
  const std::string source =
      folder.write("train.tags.de-en.de",
                   "<doc docid=\"1\" genre=\"lectures\">\n<url>http://x</url>\n"
                   "<title>Titel</title>\n Haus & Hof &amp; <3 \n<urlaub> ist kein Tag\n\n"
                   "<reviewer href=\"x\">A</reviewer>\n</doc>\nEnde");
  const std::string target =
      folder.write("train.tags.de-en.en",
                   "<doc docid=\"1\" genre=\"lectures\">\r\n<url>http://x</url>\r\n"
                   "<title>Title</title>\r\nHouse & home &amp; <3\r\nno tag\r\nnothing\r\n"
                   "<reviewer></reviewer>\r\n</doc>\r\nThe end\r\n");
  EXPECT_EQ(pairs_of(source, target),
            (Pairs{"Haus & Hof &amp; <3 | House & home &amp; <3", "<urlaub> ist kein Tag | no tag",
                   " | nothing", "Ende | The end"}));
  EXPECT_EQ(pairs_of(source, target, TextFormat::text).size(), 9U);
}

TEST_F(SentenceReaderTest, ATagBesideASentenceIsAnError) {
  const std::string source = folder.write("train.tags.a", "<url>x</url>\na\n<title>b</title>\nc\n");
  const std::string target = folder.write("train.tags.b", "<url>x</url>\nA\nB\nC\n");
  const auto error = [](const std::string& tags, const std::string& text) {
    return tags + ":3 is a line of tags, but " + text +
           ":3 is a sentence: the files must correspond line by line";
  };
  EXPECT_EQ(pairs_of(source, target), (Pairs{"a | A", error(source, target)}));
  EXPECT_EQ(pairs_of(target, source), (Pairs{"A | a", error(source, target)}));
  const std::string longer = folder.write("train.tags.c", "<url>x</url>\nA\n<title>b</title>\nC\nD\n");
  EXPECT_EQ(pairs_of(source, longer).back(),
            source + " has 4 lines, but " + longer + " has 5: they must correspond line by line");
}

TEST_F(SentenceReaderTest, SegmentsAreReadWithTheirEntities) {
  const std::string source = folder.write(
      "x.xml",
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<mteval>\n<srcset>\n<title>Q & A</title>\n"
      "<seg id=\"1\"> Tom &amp; Jerry &lt;3 &quot;&#252;&#xFC;&quot; &apos;&amp;lt;&apos; </seg>\n"
      "<hl><seg id='2'>zwei</seg></hl> <seg id=3>drei &nbsp; & &#0; &#xD800; &#99999999; a&#10;b</seg>\n"
      "<segment>no</segment>\n<seg>ohne Nummer</seg><seg id=\"5\"></seg>");
  const std::string target =
      folder.write("y.sgm",
                   "<refset>\n<seg id=\"1\">one</seg>\n<seg id=\"2\">two</seg>\n<seg id=\"3\">three</seg>\n"
                   "<seg id=\"4\">four</seg>\n<seg id=\"5\">five</seg>\n</refset>\n");
  const Pairs pairs = {"Tom & Jerry <3 \"üü\" '&lt;' | one", "zwei | two",
                       "drei &nbsp; & &#0; &#xD800; &#99999999; a b | three", "ohne Nummer | four",
                       " | five"};
  EXPECT_EQ(pairs_of(source, target), pairs);
  const std::string lines = folder.write("plain", "one\ntwo\nthree\nfour\nfive\n");
  EXPECT_EQ(pairs_of(source, lines), pairs) << "each file has a format of its own";

  DroppedPairs left_out;
  EXPECT_EQ(read_pairs({{source, target}}, true, left_out).size(), 4U);
  EXPECT_EQ(left_out.empty, 1);
}

// In quadratic time it would take minutes.
TEST_F(SentenceReaderTest, ALongLineIsReadAtOnce) {
  std::string line;
  for (int i = 0; i < 500'000; ++i) line += "<segx";
  const std::string path = folder.write("x.sgm", line + "<seg>a</seg>\n");
  EXPECT_EQ(pairs_of(path, folder.write("y", "A\n")), (Pairs{"a | A"}));
}

TEST_F(SentenceReaderTest, DamagedSegmentsAreAnError) {
  const std::string good = folder.write("good.sgm", "<seg id=\"1\">a</seg>\n<seg id=\"2\">b</seg>\n");
  const auto error_of = [&](const std::string& contents) {
    return pairs_of(folder.write("bad.sgm", contents), good).back();
  };
  const std::string bad = folder.path("bad.sgm");
  for (const char* open : {"<seg id=\"2\">b", "<seg id=\"2\" b</seg>",
                           "<seg id=\"2\">b <seg id=\"3\">c</seg>", "<seg id=\"2\"", "</seg><seg>"}) {
    EXPECT_EQ(error_of("<seg id=\"1\">a</seg>\n" + std::string(open) + "\nc</seg>\n"),
              bad + ":2: a <seg> does not end on its line: join the lines up to its </seg>")
        << open;
  }
  EXPECT_EQ(error_of("<seg id=\"1\">a</seg>\n\n<seg id=\"3\">c</seg>\n"),
            bad + ":3 has segment 3, but " + good + ":2 has segment 2: one of the files lacks a segment");
  EXPECT_EQ(error_of("<seg id=\"1\">a</seg>\n"),
            bad + " has 1 sentences, but " + good + " has 2: they must correspond sentence by sentence");
  EXPECT_NE(error_of("a\nb\n").find(bad + " has no <seg> elements"), std::string::npos);
  EXPECT_NE(error_of("").find(bad + " has no <seg> elements"), std::string::npos);
}

TEST_F(SentenceReaderTest, CompressedFilesHaveTheirFormat) {
  const std::string text = "<seg id=\"1\">a</seg>\n", path = folder.path("x.sgm.gz");
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  EXPECT_EQ(pairs_of(path, folder.write("y", "A\n")), (Pairs{"a | A"}));
}

TEST(Entities, AreDecodedOnce) {
  EXPECT_EQ(decoded_entities("&amp;amp; &#38;lt; &#x1F600; &#x0000A; & &; &#; &#x; &lt"),
            "&amp; &lt; 😀   & &; &#; &#x; &lt");
}

}  // namespace
}  // namespace dragoman::internal
