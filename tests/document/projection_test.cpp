// Marks in translations, by alignments that are given and by random ones.
#include "document/projection.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "document/placeholders.h"

namespace dragoman::internal {
namespace {

using Kind = DocumentMark::Kind;

// "a <b>red</b> house<img/> | and more": tags are marks, and | is a cut.
DocumentSegment marked(const std::string& tagged) {
  DocumentSegment segment{.original = tagged};
  std::vector<size_t> open;
  for (size_t at = 0; at < tagged.size();) {
    const size_t place = segment.text.size();
    if (tagged[at] == '|') {
      segment.text += ' ';
      segment.marks.push_back({.kind = Kind::cut, .place = {place, place + 1}, .open = "|"});
      ++at;
    } else if (tagged[at] != '<') {
      segment.text += tagged[at++];
    } else {
      const std::string tag = tagged.substr(at, tagged.find('>', at) + 1 - at);
      at += tag.size();
      if (tag[1] == '/') {
        segment.marks[open.back()].place.end = place;
        segment.marks[open.back()].close = tag;
        open.pop_back();
        continue;
      }
      const bool point = tag.ends_with("/>");
      segment.marks.push_back({.kind = point ? Kind::point : Kind::span,
                               .place = {place, place},
                               .depth = open.size(),
                               .open = tag});
      if (!point) open.push_back(segment.marks.size() - 1);
    }
  }
  return segment;
}

// "0-1 1-0": words of the text and of the translation.
std::vector<TextLink> linked(const DocumentSegment& segment, const std::string& translation,
                             const std::string& pairs) {
  const std::vector<TextSpan> source = words_of(segment.text), target = words_of(translation);
  std::vector<TextLink> links;
  size_t from = 0, to = 0;
  for (const char* next = pairs.c_str(); std::sscanf(next, "%zu-%zu", &from, &to) == 2;) {
    links.push_back({source.at(from), target.at(to)});
    next = std::strchr(next + 1, ' ');
    if (next == nullptr) break;
  }
  return links;
}

std::string rendered(const std::string& tagged, const std::string& translation, const std::string& pairs) {
  const DocumentSegment segment = marked(tagged);
  return render(segment, translation, linked(segment, translation, pairs));
}

TEST(Projection, SpansGoWithTheirWords) {
  EXPECT_EQ(rendered("the <b>red</b> house", "la maison rouge", "0-0 1-2 2-1"), "la maison <b>rouge</b>");
  EXPECT_EQ(rendered("the <b>red</b> <i>house</i>", "la maison rouge", "0-0 1-2 2-1"),
            "la <i>maison</i> <b>rouge</b>");
  EXPECT_EQ(rendered("<a>the <b>red</b> house</a> burns", "la maison rouge brûle", "0-0 1-2 2-1 3-3"),
            "<a>la maison <b>rouge</b></a> brûle");
}

TEST(Projection, OneStrayWordDoesNotStretchASpan) {
  EXPECT_EQ(rendered("<b>one two</b> three four five", "un deux trois quatre cinq", "0-0 1-1 2-2 3-3 0-4"),
            "<b>un deux</b> trois quatre cinq");
}

TEST(Projection, ASpanOverEverythingCoversEverything) {
  EXPECT_EQ(rendered("<b>Thank you.</b>", "Merci à vous !", "0-0"), "<b>Merci à vous !</b>");
  EXPECT_EQ(rendered("<i><b>Thanks</b></i>", "Un grand merci", ""), "<i><b>Un grand merci</b></i>");
}

TEST(Projection, PunctuationStaysOutside) {
  EXPECT_EQ(rendered("<b>Hello</b>, world!", "<Bonjour>, monde !", "0-1 1-3 2-4 3-5"),
            "<<b>Bonjour</b>>, monde !");
}

TEST(Projection, AMarkInsideAWordGoesAroundTheWord) {
  EXPECT_EQ(rendered("un<b>believ</b>able news", "nouvelles incroyables", "0-1 1-0"),
            "nouvelles <b>incroyables</b>");
  EXPECT_EQ(rendered("<b>un</b><i>believable</i>", "incroyable", "0-0"), "<i></i><b>incroyable</b>");
}

TEST(Projection, PointsKeepTheirNeighbours) {
  EXPECT_EQ(rendered("see figure<img/> below", "voir la figure ci-dessous", "0-0 1-2 2-3 2-5"),
            "voir la figure<img/> ci-dessous");
  EXPECT_EQ(rendered("see <img/>figure", "voir la figure", "0-0 1-2"), "voir <img/>la figure");
  EXPECT_EQ(rendered("<img/>a b<br/>", "x y", "0-1 1-0"), "<img/>x y<br/>");
  EXPECT_EQ(rendered("<b>a<img/></b><br/> c", "x z", "0-0 1-1"), "<b>x<img/></b><br/> z");
}

TEST(Projection, ASpanWithoutWordsIsKeptEmptyWithAllInsideIt) {
  EXPECT_EQ(rendered("go <b>right<i> now</i><img/></b> home", "rentre", "0-0 3-0"),
            "<b><i></i><img/></b>rentre");
  EXPECT_EQ(rendered("a <b></b>c", "x z", "0-0 1-1"), "x <b></b>z");
}

TEST(Projection, CutsAreByLengthAndAlignment) {
  EXPECT_EQ(rendered("I never said|that I would go", "Je n'ai jamais dit que j'irais", "0-0 1-2 2-3 3-4 4-5"),
            "Je n'ai jamais dit|que j'irais");
  EXPECT_EQ(
      rendered("one two|three four|five six", "un deux trois quatre cinq six", "0-0 1-1 2-2 3-3 4-4 5-5"),
      "un deux|trois quatre|cinq six");
  EXPECT_EQ(rendered("<i>one</i>|<i>two</i>", "deux un", "0-1 1-0"), "<i>deux</i>|<i>un</i>");
  EXPECT_EQ(rendered("one|two|three", "un", "0-0"), "un||");
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(c));
  return out;
}

TEST(Projection, TextIsEscapedAndWrittenInItsRuns) {
  DocumentSegment segment = marked("plain <b>bold</b> plain");
  segment.escape = upper;
  segment.text_open = "[";
  segment.text_close = "]";
  segment.marks[0].open = segment.marks[0].close = "";
  segment.marks[0].text_open = "{";
  segment.marks[0].text_close = "}";
  const std::string translation = "gras simple";
  EXPECT_EQ(render(segment, translation, linked(segment, translation, "0-1 1-0 2-1")), "{GRAS}[ SIMPLE]");
  EXPECT_EQ(render(segment, segment.text, {}), segment.original);
}

// --- Random markup, words and alignments ------------------------------------------------------------

class RandomMarkup {
 public:
  explicit RandomMarkup(uint64_t key) : random_(key) {}

  std::string tagged() {
    std::string text;
    append(text, 0, 1 + random_.below(6));
    return text.find_first_of("abc") == text.npos ? text + "a" : text;
  }
  std::string words() {
    std::string text;
    for (size_t i = 0, n = 1 + random_.below(12); i < n; ++i)
      text += (i > 0 ? " " : "") + std::string{"éxyz,.{v}", 0} +
              pick({"x", "yy", "é", "z.", "{v}", "日本", "l'un"});
    return text;
  }
  std::vector<TextLink> links(const std::string& source, const std::string& target) {
    std::vector<TextLink> links;
    const std::vector<TextSpan> from = words_of(source), to = words_of(target);
    for (size_t i = 0, n = random_.below(2 * to.size() + 1); i < n && !from.empty(); ++i)
      links.push_back({from[random_.below(from.size())], to[random_.below(to.size())]});
    return links;
  }

 private:
  std::string pick(const std::vector<std::string>& choices) { return choices[random_.below(choices.size())]; }
  void append(std::string& text, size_t depth, size_t parts) {
    for (size_t i = 0; i < parts; ++i) {
      const std::string name = fmt::format("t{}", ++tags_);
      switch (random_.below(depth < 5 ? 5 : 3)) {
        case 0:
          text += pick({"a", "bb ", " c", " a b ", "b, "});
          break;
        case 1:
          text += " a b c ";
          break;
        case 2:
          text += "<" + name + "/>";
          break;
        default:
          text += "<" + name + ">";
          append(text, depth + 1, random_.below(4));
          text += "</" + name + ">";
      }
      if (depth == 0 && random_.below(8) == 0) text += "|";
    }
  }

  Random random_;
  size_t tags_ = 0;
};

// What encloses each mark, the text without them, and their places in it.
struct Structure {
  std::map<std::string, std::string> parents;
  std::string text;
  std::vector<size_t> places;
};

Structure structure_of(const std::string& tagged) {
  Structure result;
  std::vector<std::string> open = {""};
  for (size_t at = 0; at < tagged.size();) {
    if (tagged[at] != '<') {
      result.text += tagged[at++];
      continue;
    }
    const size_t end = tagged.find('>', at) + 1;
    const std::string tag = tagged.substr(at, end - at);
    result.places.push_back(result.text.size());
    if (tag[1] == '/') {
      EXPECT_EQ("</" + open.back().substr(1), tag) << tagged;
      open.pop_back();
    } else {
      EXPECT_TRUE(result.parents.emplace(tag, open.back()).second) << tag << " twice in " << tagged;
      if (!tag.ends_with("/>")) open.push_back(tag);
    }
    at = end;
  }
  EXPECT_EQ(open.size(), 1u) << tagged;
  return result;
}

std::string without(std::string text, std::string_view characters) {
  std::erase_if(text, [&](char c) { return characters.find(c) != characters.npos; });
  return text;
}

TEST(Projection, EveryMarkComesOutOnceNestedAsItWas) {
  for (uint64_t key = 0; key < 10'000; ++key) {
    RandomMarkup random(key);
    const std::string tagged = random.tagged(), translation = random.words();
    const DocumentSegment segment = marked(tagged);
    const std::string result = render(segment, translation, random.links(segment.text, translation));
    SCOPED_TRACE(fmt::format("{}: {} → {}", key, tagged, result));
    const Structure before = structure_of(tagged), after = structure_of(result);
    ASSERT_EQ(before.parents, after.parents);
    ASSERT_EQ(without(after.text, " |"), without(translation, " "));
    ASSERT_EQ(std::ranges::count(result, '|'), std::ranges::count(tagged, '|'));
    for (const TextSpan word : words_of(after.text)) {
      for (const size_t mark : after.places) ASSERT_FALSE(word.begin < mark && mark < word.end) << mark;
    }
    if (tagged.find('|') == tagged.npos) {
      ASSERT_EQ(after.text, translation);
    }
  }
}

TEST(Projection, DirectivesAreWordsTheLongestFirst) {
  const std::vector<std::string> directives = {"%d", "%dx1"};
  EXPECT_EQ(words_of("5%dx1 or %d", directives), (std::vector<TextSpan>{{0, 1}, {1, 5}, {6, 8}, {9, 11}}));
  const size_t count = 200'000;
  std::string text;
  for (size_t i = 0; i < count; ++i) text += "%d ";
  EXPECT_EQ(words_of(text, std::vector<std::string>(count, "%d")).size(), count);
}

// A page may be one paragraph.
TEST(Projection, TimeGrowsWithTheTextNotItsSquare) {
  std::string tagged, translation, deep;
  for (size_t i = 0; i < 50'000; ++i) {
    tagged += fmt::format("<t{}>a</t{}><p{}/> b ", i, i, i);
    translation += "x y ";
  }
  for (size_t i = 0; i < 10'000; ++i)
    deep = fmt::format("<t{}>{}</t{}>", i, i % 10 == 0 ? "a " + deep : deep, i);
  const Structure before = structure_of(tagged),
                  after = structure_of(render(marked(tagged), translation, {}));
  EXPECT_EQ(before.parents, after.parents);
  EXPECT_EQ(structure_of(deep).parents, structure_of(render(marked(deep), "x y z", {})).parents);
}

}  // namespace
}  // namespace dragoman::internal
