#include "http/target.h"

#include <gtest/gtest.h>

#include "http/framing.h"

namespace dragoman::internal {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

TEST(Target, IsDecoded) {
  const Target target = read_target("GET", "/a%20b/%C3%A9/c+d?q=x+y%2Fz&e=&f&=g&&q=2");
  EXPECT_EQ(target.path, "/a b/é/c+d");
  EXPECT_EQ(target.query, (Query{{"q", "x y/z"}, {"e", ""}, {"f", ""}, {"", "g"}, {"q", "2"}}));
  EXPECT_EQ(target.host, "");
}

TEST(Target, MayBeRawUtf8) { EXPECT_EQ(read_target("GET", "/é?ü=ö").query, (Query{{"ü", "ö"}})); }

TEST(Target, AbsoluteFormHasAHost) {
  const Target target = read_target("GET", "HTTP://example.org:8080/a?b=c");
  EXPECT_EQ(target.path, "/a");
  EXPECT_EQ(target.host, "example.org:8080");
  EXPECT_EQ(read_target("GET", "http://[::1]").path, "/");
  EXPECT_EQ(read_target("GET", "https://a?b=c").query, (Query{{"b", "c"}}));
}

TEST(Target, DotsWithinNamesAreNoSegments) {
  for (const char* path : {"/a.b", "/...", "/.well-known/x", "/a..", "/..a/"})
    EXPECT_EQ(read_target("GET", path).path, path);
}

TEST(Target, TextsThatAMemoryIsAskedForMayBeAny) {
  EXPECT_EQ(read_target("GET", "/tmserver/en/fr/unit/and%2For%0A%5c%3F/../x?a=b").path,
            "/tmserver/en/fr/unit/and/or\n\\?/../x");
  EXPECT_EQ(read_target("GET", "/api/v1/en/fr/unit/..").path, "/api/v1/en/fr/unit/..");
  for (const char* target : {"/tmserver/%2e%2e/fr/unit/a", "/tmserver/a%2Fb/fr/unit/a", "/x/unit/a%2Fb",
                             "/x/../tmserver/unit/a", "/tmserver/en/fr/unit/%FF"})
    EXPECT_THROW(read_target("GET", target), FramingError) << target;
}

TEST(Target, AsteriskIsForOptions) { EXPECT_EQ(read_target("OPTIONS", "*").path, "*"); }

}  // namespace
}  // namespace dragoman::internal
