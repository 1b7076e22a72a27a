#include "text/language_codes.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

TEST(LanguageCodes, AreWrittenInOneWay) {
  for (const auto& [name, code] : std::vector<std::pair<std::string, std::string>>{{"en", "en"},
                                                                                   {"EN", "en"},
                                                                                   {"eng_Latn", "en"},
                                                                                   {"fra", "fr"},
                                                                                   {"pt_br", "pt-BR"},
                                                                                   {"zho_Hant", "zh-Hant"},
                                                                                   {"zho_Hans", "zh"},
                                                                                   {"zh-Hans", "zh"},
                                                                                   {"srp_Cyrl", "sr"},
                                                                                   {"arb_Arab", "ar"},
                                                                                   {"npi_Deva", "ne"},
                                                                                   {"no", "nb"},
                                                                                   {"nob_Latn", "nb"},
                                                                                   {"", ""},
                                                                                   {"english", ""},
                                                                                   {"xx", ""},
                                                                                   {"e n", ""}})
    EXPECT_EQ(language_code(name), code) << name;
}

TEST(LanguageCodes, AreOfOneLanguage) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  for (const auto& [a, b] : Pairs{{"en", "EN"},
                                  {"pt-BR", "pt"},
                                  {"pt_br", "PT-pt"},
                                  {"en", "eng_Latn"},
                                  {"fr-CA", "fra_Latn"},
                                  {"ar", "arb_Arab"},
                                  {"zh-Hant", "zho_Hant"},
                                  {"no", "nob_Latn"},
                                  {"xx", "xx-YY"},
                                  {"", ""}}) {
    EXPECT_TRUE(same_language(a, b)) << a << " " << b;
    EXPECT_TRUE(same_language(b, a)) << b << " " << a;
  }
  std::string long_name = "zz";
  for (int i = 0; i < 100'000; ++i) long_name += "-polytoni";  // which takes quadratic time to read
  EXPECT_FALSE(same_language(long_name, "fr"));
  // ICU can read neither of the last two, which does not make them equal.
  for (const auto& [a, b] : Pairs{{"en", "fr"},
                                  {"en", "fra_Latn"},
                                  {"eng_Latn", "fra_Latn"},
                                  {"en", ""},
                                  {"eng_Latn", "*all*"},
                                  {std::string(200, 'a'), std::string(200, 'b')},
                                  {std::string(200, 'a'), ""}}) {
    EXPECT_FALSE(same_language(a, b)) << a << " " << b;
    EXPECT_FALSE(same_language(b, a)) << b << " " << a;
  }
}

}  // namespace
}  // namespace dragoman::internal
