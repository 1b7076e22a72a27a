// Which requests come from pages of other sites.
#include "serve/limits/cors.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

bool is_foreign(const HttpHeaders& headers, std::vector<std::string> allowed = {}) {
  IncomingRequest request = {.method = "GET", .headers = headers};
  request.headers.emplace_back("host", "server:5000");
  return Cors(std::move(allowed)).is_foreign(request);
}

TEST(CorsTest, BrowsersSayWhosePageItIs) {
  EXPECT_TRUE(is_foreign({{"sec-fetch-site", "cross-site"}}));
  EXPECT_TRUE(is_foreign({{"sec-fetch-site", "same-site"}}));
  EXPECT_FALSE(is_foreign({{"sec-fetch-site", "same-origin"}}));
  EXPECT_FALSE(is_foreign({{"sec-fetch-site", "none"}})) << "what someone typed";
  EXPECT_FALSE(
      is_foreign({{"sec-fetch-site", "cross-site"}, {"origin", "https://a.example"}}, {"https://a.example"}));
}

// To a server that is neither on the same machine nor has HTTPS.
TEST(CorsTest, WithoutThatTheirAddressTells) {
  const std::pair<std::string, std::string> browser = {"user-agent", "Mozilla/5.0 (X11)"};
  EXPECT_FALSE(is_foreign({browser, {"origin", "http://server:5000"}}));
  EXPECT_TRUE(is_foreign({browser, {"origin", "http://a.example"}}));
  EXPECT_TRUE(is_foreign({browser, {"origin", "null"}}));
  EXPECT_FALSE(is_foreign({browser, {"referer", "http://server:5000/page?a=b"}}));
  EXPECT_TRUE(is_foreign({browser, {"referer", "http://a.example/http://server:5000/"}}));
  EXPECT_TRUE(is_foreign({browser})) << "a page can ask for no Referer";
  EXPECT_FALSE(is_foreign({browser, {"origin", "http://a.example"}}, {"http://a.example"}));
}

TEST(CorsTest, ProgramsAreNoPages) {
  EXPECT_FALSE(is_foreign({}));
  EXPECT_FALSE(is_foreign({{"user-agent", "curl/8.0"}}));
}

}  // namespace
}  // namespace dragoman::internal
