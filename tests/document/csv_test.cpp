#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "document/random_words.h"
#include "document/rotated.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using Texts = std::vector<std::string>;

Document table_of(const std::string& file, const std::string& columns, std::string_view format = "csv") {
  return document_format(format, "").read(file, {.name = "a.csv", .columns = columns});
}

TEST(Csv, TranslatesColumnsOfText) {
  const std::string file =
      "\xEF\xBB\xBFid,title,status\r\n1,\"The \"\"red\"\" car, new\",open\r\n"
      "2, A <b>blue</b> car ,done\r\n3,House,open\r\n\r\n4,\"two\nlines here\"";
  const Document document = read_as("csv", file);
  EXPECT_EQ(texts_of(document), (Texts{"The \"red\" car, new", "A blue car", "House", "two lines here"}));
  EXPECT_EQ(identity_of(document), file);
  EXPECT_EQ(rotation_of(document),
            "\xEF\xBB\xBFid,title,status\r\n1,\"Gur \"\"erq\"\" pne, arj\",open\r\n"
            "2, N <b>oyhr</b> pne ,done\r\n3,Ubhfr,open\r\n\r\n4,\"gjb\nyvarf urer\"");
}

TEST(Csv, QuotesACellThatNeedsIt) {
  const Document document = read_as("csv", "a;b\n1; One car \n");
  EXPECT_EQ(document.write(Texts{"x; y"}), "a;b\n1;\" x; y \"\n");
  EXPECT_EQ(document.write(Texts{"x, \"y\""}), "a;b\n1;\" x, \"\"y\"\" \"\n");
  EXPECT_EQ(document.write(Texts{"x, y"}), "a;b\n1; x, y \n");
}

TEST(Csv, WithTabsQuotesOnlyWhatWouldBeReadInAnotherWay) {
  const Document document = read_as("tsv", "id\ttext\n1\tThe \"red\" car\n");
  EXPECT_EQ(document.write(Texts{"La \"voiture\" rouge"}), "id\ttext\n1\tLa \"voiture\" rouge\n");
  EXPECT_EQ(document.write(Texts{"\"La\" voiture"}), "id\ttext\n1\t\"\"\"La\"\" voiture\"\n");
  EXPECT_EQ(document.write(Texts{"la\tvoiture"}), "id\ttext\n1\t\"la\tvoiture\"\n");
}

TEST(Csv, HasSeparatorsAndColumnsOfItsOwn) {
  EXPECT_EQ(texts_of(read_as("csv", "a|b\nOne car|x, y, z z\n")), (Texts{"One car", "x, y, z z"}));
  EXPECT_EQ(texts_of(read_as("tsv", "a\tb\nOne \"car\"\t\"x, y\n")), (Texts{"One \"car\"", "\"x, y"}));
  EXPECT_EQ(texts_of(table_of("key,en\nsave,Save\n", "en")), Texts{"Save"});
  EXPECT_EQ(texts_of(table_of("key,en\nsave,Save\n", "1, 2")), (Texts{"save", "Save"}));
  EXPECT_EQ(texts_of(read_as("csv", "One car.,1\nTwo cars.,2\n")), (Texts{"One car.", "Two cars."}));
  EXPECT_EQ(texts_of(read_as("csv", "key,en\nsave,Save\n")), Texts{});
}

// As pandas writes an index, and wherever columns are named as the first row does.
TEST(Csv, AHeaderStaysWhereANameIsMissing) {
  const std::string file = ",title,price\n0,A red car,3\n1,A blue car,4\n";
  EXPECT_EQ(texts_of(read_as("csv", file)), (Texts{"A red car", "A blue car"}));
  EXPECT_EQ(texts_of(table_of(file, "title")), (Texts{"A red car", "A blue car"}));
  EXPECT_EQ(texts_of(table_of("1,title\n0,A red car\n", "title")), Texts{"A red car"});
  EXPECT_EQ(texts_of(table_of("1,title\n0,A red car\n", "2")), (Texts{"title", "A red car"}));
}

TEST(Csv, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("csv", "a,b\n1,\"x y\n"),
            "test.csv: line 2 begins a cell with a quotation mark, but does not end it with one: correct it");
  try {
    table_of("a,b\n1,2\n", "c");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "a.csv: there is no column \"c\": name columns as the first row does, or by their numbers, 1 to 2");
  }
}

// Of numbers in the first column, and text in the second.
std::string random_table(Random& random) {
  static const Texts units = {"word", " ", " ", "%d", "<b>x</b>", "it's", "é", "\n", "\"\"", ",", ";", "\t"};
  std::string file = "id,text of it,more\n";
  for (uint64_t row = 1 + random.below(20); row > 0; --row) {
    file += std::to_string(row) + ',';
    const bool quoted = random.below(2) == 0;
    std::string cell = "one word";
    for (uint64_t n = random.below(8); n > 0; --n) cell += units[random.below(quoted ? units.size() : 7)];
    file += quoted ? '"' + cell + '"' : cell;
    file += ",x" + std::to_string(row) + (row > 1 || random.below(2) == 0 ? "\n" : "");
  }
  return file;
}

TEST(Csv, ComesBackAsItWas) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const std::string file = random_table(random);
    ASSERT_EQ(identity_of(read_as("csv", file)), file);
    for (const std::string_view format : {"csv", "tsv"}) {
      const std::string part = file.substr(0, random.below(file.size()));
      if (refusal(format, part).empty()) {
        ASSERT_EQ(identity_of(read_as(format, part)), part);
      }
    }
  }
}

// Python's reader is the judge.
TEST(Csv, HasTheSameShapeWhateverTheTranslationIs) {
  if (std::system("python3 -c 'import csv' > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no Python";
  const TemporaryFolder folder;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const std::string file = random_table(random), name = folder.path(std::to_string(seed));
    std::ofstream(name + ".csv", std::ios::binary) << file;
    std::ofstream(name + ".new", std::ios::binary) << in_random_words(read_as("csv", file), seed);
  }
  std::ofstream(folder.path("judge.py")) << R"(
import csv, glob, sys
for name in glob.glob("*.csv"):
    before, after = (list(csv.reader(open(n, newline=""))) for n in (name, name[:-3] + "new"))
    assert [len(row) for row in before] == [len(row) for row in after], name
    assert all(a[0] == b[0] and a[2] == b[2] for a, b in zip(before, after)), name
    assert sum(a[1] != b[1] for a, b in zip(before, after)) >= len(before) / 2 - 1, name
)";
  EXPECT_EQ(std::system(("cd " + folder.path("") + " && python3 judge.py").c_str()), 0);
}

}  // namespace
}  // namespace dragoman::internal
