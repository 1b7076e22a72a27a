// Navigation bars: what stands between links separates segments, and stays as it is.
#include <gtest/gtest.h>

#include "document/identity.h"
#include "document/rotated.h"
#include "document/translation.h"

namespace dragoman::internal {
namespace {

using Parts = std::vector<std::string>;

Parts parts_of(std::string_view format, const std::string& file) {
  const Document document = read_as(format, file);
  EXPECT_EQ(identity_of(document), file);
  return texts_of(document);
}

TEST(Separators, BetweenLinksTheyEndSegments) {
  for (const std::string separator :
       {"|", " | ", " · ", "•", " &raquo; ", " &gt;\n", "/", " / ", "&nbsp;|&nbsp;", " → "}) {
    const std::string file = "<p><a href=1>The home</a>" + separator + "<a href=2>our <b>docs</b></a>" +
                             separator + "<a href=3>us</a></p>";
    EXPECT_EQ(parts_of("html", file), (Parts{"The home", "our docs", "us"})) << separator;
    EXPECT_EQ(in_upper_case(read_as("html", file)), "<p><a href=1>THE HOME</a>" + separator +
                                                        "<a href=2>OUR <b>DOCS</b></a>" + separator +
                                                        "<a href=3>US</a></p>")
        << separator;
  }
  EXPECT_EQ(parts_of("markdown", "**[Home](/) | [Docs][d] | *About*** us\n\n[d]: /docs\n"),
            (Parts{"Home | Docs | About us"}));
  EXPECT_EQ(parts_of("markdown", "**[Home](/) | [Docs][d] | *about us***\n\n[d]: /docs\n"),
            (Parts{"Home", "Docs", "about us"}));
  EXPECT_EQ(parts_of("markdown", "[Home](/) » [Docs](/d) » Install\n"), (Parts{"Home", "Docs", "Install"}));
  EXPECT_EQ(parts_of("html", "<a>Home</a> > <a>Docs</a> > Install it"),
            (Parts{"Home", "Docs", "Install it"}));
  EXPECT_EQ(parts_of("html", "Languages: <a>German</a> / <a>French</a>"),
            (Parts{"Languages: German", "French"}));
  EXPECT_EQ(parts_of("html", "<a>All news</a> | Today | <img src=x> | <a>top</a>"),
            (Parts{"All news", "Today |", "top"}));
}

TEST(Separators, InASentenceTheyDoNot) {
  for (const std::string file :
       {"Use <b>this</b>/<b>that</b> here.", "Either <i>or</i> / <i>and</i> works",
        "<b>5</b> > <b>four</b> is true", "Returns <code>a</code> | <code>b</code> here",
        "« <b>Un mot</b> » est dit", "one | two <b>three</b>", "<b>a</b>b/c <i>d</i>",
        "see <b>the a | b</b> case", "x<b>|</b>y"})
    EXPECT_EQ(parts_of("html", file).size(), 1u) << file;
}

// In time that grew with the square of their size these would take longer than a test may.
TEST(Separators, ManyOfThemTakeLittleTime) {
  for (const std::string_view part : {" | ", "<a>x</a> | ", "<a>x</a>/", "x > <a>y</a>", "« » ", " &#32;|"})
    parts_of("html", repeated(part, 50'000) + "x");
}

}  // namespace
}  // namespace dragoman::internal
