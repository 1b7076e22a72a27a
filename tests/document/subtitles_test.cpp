
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "document/rotated.h"

namespace dragoman::internal {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

using namespace std::string_literals;
using Texts = std::vector<std::string>;

TEST(Srt, JoinsASentenceOverLinesAndCues) {
  const std::string file =
      "\xEF\xBB\xBF"
      "1\r\n00:00:01,000 --> 00:00:02,500\r\nI did not know\r\nthat Dr.\r\n\r\n"
      "2\r\n00:00:02,600 --> 00:00:04,000 X1:0 X2:9\r\n<i>Smith was here.</i>\r\n\r\n"
      "3\r\n00:00:04,100 --> 00:00:05,000\r\n- Who?\r\n- JOHN: Him.\r\n";
  const Document document = read_as("srt", file);
  EXPECT_EQ(texts_of(document), (Texts{"I did not know that Dr. Smith was here.", "Who?", "Him."}));
  const std::vector<DocumentMark>& marks = document.segments[0].marks;
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].open, "\r\n");
  EXPECT_EQ(marks[1].open, "\r\n\r\n2\r\n00:00:02,600 --> 00:00:04,000 X1:0 X2:9\r\n<i>");
  EXPECT_EQ(marks[1].kind, DocumentMark::Kind::cut);
  EXPECT_EQ(document.segments[0].text.substr(marks[1].place.begin, 1), " ");
  EXPECT_EQ(identity_of(document), file);
}

TEST(Srt, KeepsFormattingAsSpansAndCodesAsPoints) {
  const Document document =
      read_as("srt", "1\n0:01 --> 0:02\n{\\an8}You <i>really</i> {\\i1}think{\\i0} <b>so, I <3 \nyou</b>?\n");
  ASSERT_EQ(document.segments.size(), 2u);
  EXPECT_EQ(document.segments[0].text, "You really think so, I <3");
  ASSERT_EQ(document.segments[0].marks.size(), 3u);
  EXPECT_EQ(document.segments[0].marks[0].close, "</i>");
  EXPECT_EQ(document.segments[0].marks[1].close, "{\\i0}");
  EXPECT_EQ(document.segments[0].marks[2].kind,
            DocumentMark::Kind::point);  // its partner is in the next line
  EXPECT_EQ(document.segments[1].text, "you?");
}

TEST(Srt, TranslatesSoundsAndLyricsByThemselves) {
  EXPECT_EQ(texts_of(read_as("srt",
                             "1\n00:00:01,000 --> 00:00:02,000\n[soft music]\n\n"
                             "2\n00:00:02,000 --> 00:00:03,000\n(SIGHS) I see that\n♪ You and I ♪\n\n"
                             "3\n00:00:03,000 --> 00:00:04,000\nMARY: [whispers] no,\n\n"
                             "4\n00:00:04,000 --> 00:00:05,000\nnever.\n")),
            (Texts{"soft music", "SIGHS", "I see that", "You and I", "whispers", "no, never."}));
}

TEST(Srt, NotesDivideALine) {
  EXPECT_EQ(texts_of(read_as("srt",
                             "1\n00:00:01,000 --> 00:00:02,000\n♪ [music] ♪ Hello everyone\n\n"
                             "2\n00:00:02,000 --> 00:00:03,000\n♪ one ♪ ♫ <i>two</i> ♫\n\n"
                             "3\n00:00:03,000 --> 00:00:04,000\nthree ♪ (he sings a song) ♪ four\n")),
            (Texts{"music", "Hello everyone", "one", "two", "three", "he sings a song", "four"}));
}

TEST(Srt, EndsASentenceAtAPauseAndAfterEightCues) {
  std::string file;
  for (int i = 0; i < 20; ++i)
    file += fmt::format("{}\n00:00:{:02},000 --> 00:00:{:02},500\nword\n\n", i + 1, i, i);
  const Document document = read_as("srt", file + "9\n00:01:00,000 --> 00:01:01,000\nlate\n");
  ASSERT_EQ(document.segments.size(), 4u);
  EXPECT_EQ(document.segments[0].marks.size(), 7u);
  EXPECT_EQ(document.segments[3].text, "late");
}

TEST(Srt, ReadsEmptyLinesInACueAndNumbersInASentence) {
  const std::string file =
      "1\n00:00:01,000 --> 00:00:02,000\n \nIn the year\n\n1984\n\n2\n00:00:02,000 --> 00:00:03,000\nall was "
      "well.\n";
  EXPECT_EQ(texts_of(read_as("srt", file)), (Texts{"In the year 1984 all was well."}));
}

TEST(Srt, IsReadInUtf16) {
  std::string file = "\xFF\xFE";
  for (const char c : std::string("1\n00:00:01,000 --> 00:00:02,000\nHello.\n")) file += {c, '\0'};
  const Document document = read_as("srt", file);
  EXPECT_EQ(texts_of(document), (Texts{"Hello."}));
  EXPECT_EQ(identity_of(document), file);
  EXPECT_EQ(document.write(std::vector<std::string>{"\xF0\x9F\x98\x80"}).substr(file.size() - 14, 4),
            "\x3D\xD8\x00\xDE"s);
  EXPECT_TRUE(has(refusal("srt", file + "x"), "odd number of bytes"));
  EXPECT_TRUE(has(refusal("srt", file + "\x01\xD8"), "line 4 is not valid UTF-16"));
}

TEST(Vtt, KeepsAllButTheTextOfCues) {
  const std::string file =
      "WEBVTT - a film\nKind: captions\n\nNOTE\nnot this\n01:00.000 --> 01:02.000\n\nSTYLE\n::cue { color: "
      "red }\n\n"
      "REGION\nid:fred\n\nintro\n00:01.000 --> 00:02.000 align:start position:10%\n"
      "<v Mary>Salt &amp; <c.loud>pepper</c>,\n\n00:02.100 --> 00:03.000\n<v Mary>she <00:02.500>said.\n\n"
      "00:03.000 --> 00:04.000\n<v Bob>and who are you?</v>\n";
  const Document document = read_as("vtt", file);
  EXPECT_EQ(texts_of(document), (Texts{"Salt & pepper, she said.", "and who are you?"}));
  EXPECT_EQ(identity_of(document), file);
  EXPECT_EQ(document.segments[0].escape("a < b & c --> d"), "a &lt; b &amp; c --&gt; d");
  EXPECT_TRUE(has(rotation_of(document),
                  "<v Mary>Fnyg &amp; <c.loud>crccre</c>,\n\n00:02.100 --> 00:03.000\n"
                  "<v Mary>fur <00:02.500>fnvq.\n"));
}

TEST(Subtitles, RefuseWhatIsNone) {
  EXPECT_TRUE(has(refusal("srt", "Just a letter.\n"), "test.srt: no line has the time of a subtitle"));
  EXPECT_TRUE(has(refusal("vtt", "1\n00:01.000 --> 00:02.000\nHi\n"), "test.vtt: line 1 is not \"WEBVTT\""));
  EXPECT_EQ(refusal("srt", ""), "");
}

// A film of which the words of the text are translated: by `word`, so that the expected file comes from the same seed.
class Film {
 public:
  Film(uint64_t seed, bool is_vtt, std::string (*word)(std::string_view))
      : random_(seed), is_vtt_(is_vtt), word_(word) {}

  std::string file() {
    end_ = one_of({"\n", "\r\n"});
    std::string film = random_.below(4) == 0 ? std::string(byte_order_mark) : "";
    if (is_vtt_) film += "WEBVTT" + end_ + end_;
    for (uint64_t cue = 0, cues = 1 + random_.below(12); cue < cues; ++cue) {
      if (is_vtt_ && random_.below(5) == 0)
        film += one_of({"NOTE plain words", "STYLE", "REGION"}) + end_ + end_;
      if (!is_vtt_ || random_.below(2) == 0) film += fmt::format("{}{}", cue + 1, end_);
      const char point = is_vtt_ ? '.' : ',';
      time_ += random_.below(10) == 0 ? 9 : 2;
      film += fmt::format("00:{:02}:{:02}{}000 --> 00:{:02}:{:02}{}999{}", time_ / 60, time_ % 60, point,
                          time_ / 60, time_ % 60, point, end_);
      for (uint64_t lines = random_.below(4); lines > 0; --lines) film += line() + end_;
      film += one_of({"", is_vtt_ ? "" : " \t"}) + end_;
    }
    return film;
  }

 private:
  std::string one_of(std::vector<std::string> choices) { return choices[random_.below(choices.size())]; }

  std::string words() {
    std::string text;
    for (uint64_t count = 1 + random_.below(5); count > 0; --count) {
      std::string letters;
      for (uint64_t size = 2 + random_.below(4); size > 0; --size)
        letters += static_cast<char>('c' + random_.below(6));
      text += (text.empty() ? "" : " ") + word_(letters);
      if (random_.below(9) == 0) text += one_of({" 12", ",", is_vtt_ ? " &amp; é" : " & é", " …"});
    }
    return text;
  }

  std::string line() {
    std::string text = words();
    if (random_.below(4) == 0)
      text = "<i>" + text + one_of({"</i>", "", "</b>"}) + one_of({"", " ", ", "}) + words();
    if (random_.below(6) == 0) text += " {\\an8}" + words() + " <b>" + words() + "</b>";
    if (random_.below(8) == 0) text = "[" + words() + "]";
    if (random_.below(8) == 0) text = one_of({"- ", "{\\an8}", " <i>", "JOHN: ", "- MAN #2: ", "♪ "}) + text;
    if (is_vtt_ && random_.below(8) == 0) text = "<v Bob Smith>" + text;
    return text + one_of({"", ".", "?", "...", "</i>", " ♪"});
  }

  Random random_;
  bool is_vtt_;
  std::string (*word_)(std::string_view);
  std::string end_;
  uint64_t time_ = 0;
};

TEST(Subtitles, ChangeNothingButTheWordsOfGeneratedFilms) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    const bool is_vtt = seed % 2 == 1;
    const std::string film =
        Film(seed, is_vtt, [](std::string_view word) { return std::string(word); }).file();
    const Document document = read_as(is_vtt ? "vtt" : "srt", film);
    ASSERT_EQ(identity_of(document), film);
    ASSERT_EQ(rotation_of(document), Film(seed, is_vtt, rotated).file()) << film;
  }
}

std::string fixture(const std::string& name) {
  std::ifstream file(std::filesystem::path(DRAGOMAN_SOURCE_DIR) / "tests/golden/fixtures" / name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Subtitles, HaveTheSentencesOfAFilmWhole) {
  const std::string film = fixture("film.srt");
  const Document document = read_as("srt", film);
  EXPECT_EQ(identity_of(document), film);
  EXPECT_EQ(rotation_of(read_as("srt", rotation_of(document))), film);
  std::string sentences;
  for (const DocumentSegment& segment : document.segments) sentences += segment.text + "\n";
  EXPECT_EQ(sentences, fixture("film.txt"));
}

TEST(Subtitles, AreReadInLinearTimeWhateverTheyHold) {
  for (const std::string part : {"<i>", "</i>", "<", "{\\", "[a]", "(a b c d)", "[", "&", "&amp", "♪", "- ",
                                 "A:", "word\n", "x ♪", "[♪", "(a ♪", "(a b c d) ♪", "\u2669"}) {
    std::string parts;
    while (parts.size() < 300'000) parts += part;
    for (const std::string before : {"", "x "}) {
      const std::string file = "WEBVTT\n\n00:01.000 --> 00:02.000\n" + before + parts;
      for (const std::string_view format : {"srt", "vtt"}) {
        ASSERT_EQ(identity_of(read_as(format, file)), file) << part;
      }
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
