// Java's .properties, and .strings of macOS and iOS.
#include <gtest/gtest.h>

#include "document/random_words.h"
#include "document/rotated.h"

namespace dragoman::internal {
namespace {

using Texts = std::vector<std::string>;

std::string written(std::string_view format, const std::string& file, const std::string& translation) {
  const Document document = read_as(format, file);
  return document.write(Texts{render(document.segments.at(0), translation, {})});
}

TEST(Properties, TranslatesValues) {
  const std::string file =
      "# One comment\r\n! Two\r\nkey = One car\r\n  a\\ b\\=c:Two \\\r\n    cars\\u00e9\\n\\\r\n  here\r\n"
      "empty=\nnone\nthree \\\n = Red \\: car\\\\\n\n=x y";
  const Document document = read_as("properties", file);
  EXPECT_EQ(texts_of(document), (Texts{"One car", "Two carsé here", "Red : car\\", "x y"}));
  EXPECT_EQ(identity_of(document), file);
  EXPECT_EQ(written("properties", "a=It is\n", "C'est l'été\\"), "a=C'est l'\\u00e9t\\u00e9\\\\\n");
  EXPECT_EQ(written("properties", "#é\na=It is\n", "é\\"), "#é\na=é\\\\\n");
}

TEST(Properties, ReadsLatin1AsJavaOnceDid) {
  const std::string file = "a=caf\xE9 open\nb=na\xEFve\n";
  const Document document = read_as("properties", file);
  EXPECT_EQ(texts_of(document), (Texts{"café open", "naïve"}));
  EXPECT_EQ(identity_of(document), file);
  EXPECT_EQ(document.write(Texts{"\u0153uvre é", "x"}), "a=\\u0153uvre \xE9\nb=x\n");
}

TEST(Properties, DoublesApostrophesWhereJavaReadsThem) {
  EXPECT_EQ(written("properties", "a=in {0}\n", "dans l'{0}"), "a=dans l''{0}\n");
  EXPECT_EQ(written("properties", "a=in {0} it''s\n", "c'est {0}"), "a=c''est {0}\n");
  EXPECT_EQ(written("properties", "a=in {0} it's\n", "c'est {0}"), "a=c'est {0}\n");
  EXPECT_EQ(written("properties", "a=it is\n", "c'est"), "a=c'est\n");
}

TEST(AppleStrings, TranslatesTextsAndNumbersTheirArguments) {
  const std::string file =
      "\xEF\xBB\xBF/* The \"key\" */\n\"a\" = \"One \\\"car\\\" of %@\\n\";\n// x = \"y\";\nb=\"100% sure, "
      "%1$@\";\n\"only\";\n";
  const Document document = read_as("strings", file);
  EXPECT_EQ(texts_of(document), (Texts{"One \"car\" of %@", "100% sure, %1$@"}));
  EXPECT_EQ(identity_of(document), file);
  EXPECT_EQ(written("strings", "\"a\" = \"%@ in %d\";", "%d: \"%@\""), "\"a\" = \"%2$d: \\\"%1$@\\\"\";");
  EXPECT_EQ(written("strings", "\"a\" = \"%*d in %@\";", "%@: %*d"), "\"a\" = \"%*d in %@\";");
  EXPECT_EQ(written("strings", "\"a\" = \"of %@\";", "50 %d de %@"), "\"a\" = \"50 % d de %@\";");
}

TEST(AppleStrings, MayBeInUtf16) {
  std::string file = "\xFF\xFE";
  for (const char c : std::string("\"a\" = \"One car\";")) file += {c, '\0'};
  EXPECT_EQ(texts_of(read_as("strings", file)), Texts{"One car"});
  EXPECT_EQ(identity_of(read_as("strings", file)), file);
}

TEST(AppleStrings, NameTheLineThatIsWrong) {
  EXPECT_TRUE(refusal("strings", "\n\"a\" \"b\";").starts_with("test.strings: line 2 has no ="));
  EXPECT_TRUE(refusal("strings", "\"a\" = \"b\"\n").starts_with("test.strings: line 2 has no ;"));
  EXPECT_TRUE(
      refusal("strings", "\"a\" = \"b;\n").starts_with("test.strings: line 1 has a string without an end"));
  EXPECT_TRUE(refusal("strings", "/* \n").starts_with("test.strings: line 1 has a comment without an end"));
}

// A table in either format whose keys and comments have letters, too.
std::string random_table_of(std::string_view format, Random& random) {
  static const Texts units = {"word", " ",   " ",    "%@",   "%d", "{0}", "<b>x</b>",
                              "é",    "\\n", "\\\"", "\\\\", "=",  "''"};
  std::string file;
  for (uint64_t row = 0, rows = random.below(9); row < rows; ++row) {
    std::string text = "one ";
    for (uint64_t n = random.below(8); n > 0; --n) text += units[random.below(units.size())];
    if (format == "strings")
      file += "/* a key */\n\"the key " + std::to_string(row) + "\" = \"" + text + "\";\n";
    else
      file += "# a key\nkey." + std::to_string(row) + " = " + text +
              (random.below(2) == 0 ? " \\\n  more" : "") + "\n";
  }
  return file;
}

// With the lines before them, of which only those of a value begin with white space.
Texts keys_of(std::string_view format, const std::string& file) {
  Texts keys;
  for (size_t at = 0; at < file.size(); at = std::min(file.find('\n', at), file.size() - 1) + 1) {
    const std::string line = file.substr(at, file.find('\n', at) - at);
    if (!line.starts_with(' '))
      keys.push_back(line.substr(0, line.find(format == "strings" ? "= \"" : " = ")));
  }
  return keys;
}

TEST(StringTables, ComeBackAndKeepTheirShapeWhateverTheTranslationIs) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    for (const std::string format : {"properties", "strings"}) {
      Random random(seed);
      const std::string file = random_table_of(format, random);
      const Document document = read_as(format, file);
      ASSERT_EQ(identity_of(document), file);
      const std::string translated = in_random_words(document, seed);
      ASSERT_EQ(refusal(format, translated), "") << translated;
      ASSERT_EQ(keys_of(format, translated), keys_of(format, file)) << file << translated;
      const std::string part = file.substr(0, random.below(file.size() + 1));
      if (refusal(format, part).empty()) {
        ASSERT_EQ(identity_of(read_as(format, part)), part);
      }
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
