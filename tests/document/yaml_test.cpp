#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "document/random_words.h"
#include "document/rotated.h"

namespace dragoman::internal {
namespace {

using Texts = std::vector<std::string>;

Texts yaml_texts(const std::string& file) { return texts_of(read_as("yaml", file)); }

std::string yaml_written(const std::string& file, const std::string& translation) {
  const Document document = read_as("yaml", file);
  return document.write(Texts{render(document.segments.at(0), translation, {})});
}

TEST(Yaml, TranslatesValuesOfEveryStyle) {
  const std::string file =
      "# One comment\nplain: One car # kept\nfolded: two\n  cars here\nsingle: 'It''s red'\ndouble: \"A "
      "\\\"b\\\" "
      "c\\u00e9\\n\\\n  done\"\n"
      "anchor: &x !!str Big car\nalias: *x\nlist:\n- First\n- { a: Second one, \"b\": [Third] }\n"
      "block: |-\n  Line one.\n    Line two.\n\n  Line three.\n\nwrapped: >\n  Some words\n  go on.\n\n  And "
      "end.\nlast: x\n";
  const Document document = read_as("yaml", file);
  EXPECT_EQ(texts_of(document), (Texts{"One car", "two cars here", "It's red", "A \"b\" cé done", "Big car",
                                       "First", "Second one", "Third", "Line one.", "Line two.",
                                       "Line three.", "Some words go on.", "And end.", "x"}));
  EXPECT_EQ(identity_of(document), file);
  const std::string rotation = rotation_of(document);
  const YAML::Node before = YAML::Load(file), after = YAML::Load(rotation);
  EXPECT_EQ(after["block"].as<std::string>(), "Yvar bar.\n  Yvar gjb.\n\nYvar guerr.");
  EXPECT_EQ(after["wrapped"].as<std::string>(), "Fbzr jbeqf tb ba.\nNaq raq.\n");
  EXPECT_EQ(after["double"].as<std::string>(), "N \"o\" pé\nqbar");
  EXPECT_EQ(after["alias"].as<std::string>(), "Ovt pne");
  EXPECT_NE(rotation.find("# One comment"), rotation.npos);
  EXPECT_NE(rotation.find("{ a: Frpbaq bar, \"b\": [Guveq] }"), rotation.npos);
}

TEST(Yaml, BlocksMayHaveManyEmptyLines) {
  const std::string file =
      "a: |\n  One car\n" + std::string(100, '\n') + "b: >\n" + repeated("  Two cars.\n\n", 50);
  const Texts texts = yaml_texts(file);
  ASSERT_EQ(texts.size(), 51U);
  EXPECT_EQ(texts.front(), "One car");
  EXPECT_EQ(texts.back(), "Two cars.");
  EXPECT_EQ(identity_of(read_as("yaml", file)), file);
}

TEST(Yaml, LeavesWhatIsNoText) {
  EXPECT_EQ(yaml_texts("a: true\nb: No\nc: 12\nd: 1.5e3\ne: ~\nf: null\ng: app/models\nh: user_name\ni: "
                       "!ruby/x Some text\n"
                       "j: :symbol\nk: \"%Y-%m-%d\"\nl: 2001-01-01\nm: v1.2\nn: Yes, we can\n"),
            Texts{"Yes, we can"});
  EXPECT_EQ(yaml_texts("en:\n  date:\n    formats:\n      long: \"%B the %d\"\n  x: \"Hi %{name}\"\n"),
            Texts{"Hi %{name}"});
}

TEST(Yaml, QuotesWhatWouldNotBePlain) {
  EXPECT_EQ(yaml_written("a: Yes sir\n", "no"), "a: 'no'\n");
  EXPECT_EQ(yaml_written("a: One car\n", "l'été, oui"), "a: l'été, oui\n");
  EXPECT_EQ(yaml_written("a: One car\n", "C'est : oui"), "a: 'C''est : oui'\n");
  EXPECT_EQ(yaml_written("a: [One car]\n", "oui, non"), "a: ['oui, non']\n");
  EXPECT_EQ(yaml_written("a: One car\n", "x #1"), "a: 'x #1'\n");
  EXPECT_EQ(yaml_written("a: 'One car'\n", "l'été"), "a: 'l''été'\n");
  EXPECT_EQ(yaml_written("a: \"One car\"\n", "\"x\" \\"), "a: \"\\\"x\\\" \\\\\"\n");
}

TEST(Yaml, ChangesTheLanguageOfAFileOfRails) {
  const auto language = [](const std::string& file, const std::string& from, const std::string& to) {
    return identity_of(document_format("yaml", "").read(file, {.name = "a.yml", .from = from, .to = to}));
  };
  EXPECT_EQ(language("---\nen:\n  a: Save it\n", "", "fr"), "---\nfr:\n  a: Save it\n");
  EXPECT_EQ(language("\"en\":\n  a: Save it\n", "en", "fr"), "\"fr\":\n  a: Save it\n");
  EXPECT_EQ(language("en:\n  a: Save it\n", "en", "no"), "\"no\":\n  a: Save it\n");
  for (const std::string file :
       {"en:\n  a: x\nfr:\n  a: y\n", "en: Save it\n", "db:\n  a: x\n", "de:\n  a: x\n"})
    EXPECT_EQ(language(file, "en", "fr"), file);
}

TEST(Yaml, NamesTheLineThatIsWrong) {
  EXPECT_TRUE(refusal("yaml", "a: b\nc: [d\n").starts_with("test.yaml: line 3 is not valid YAML ("));
  EXPECT_TRUE(
      refusal("yaml", std::string(100'000, '[')).starts_with("test.yaml: line 1 is not valid YAML ("));
  EXPECT_EQ(refusal("yaml", "a: b\n---\n,a\n"),
            "test.yaml: line 3 is not valid YAML (no value begins here): correct it");
  EXPECT_EQ(identity_of(read_as("yaml", "---\n---\n...\n---\na: b c\n")), "---\n---\n...\n---\na: b c\n");
}

// A file with all styles.
class YamlFileOfWords {
 public:
  explicit YamlFileOfWords(uint64_t seed) : random_(seed) { map(0); }
  std::string text;

 private:
  std::string words(const Texts& others) {
    std::string result = "one";
    for (uint64_t n = random_.below(8); n > 0; --n)
      result += (random_.below(3) == 0 ? "" : " ") +
                (random_.below(2) == 0 ? "word" : others[random_.below(others.size())]);
    return result;
  }

  void value(size_t indent) {
    const std::string margin(indent + 2, ' ');
    switch (random_.below(7)) {
      case 0:
        text += " " + words({"it's", "%{x}", "<b>x</b>", "a.b", "é", "5%"}) +
                (random_.below(3) == 0 ? " # note\n" : "\n");
        break;
      case 1:
        text += " '" + words({"it''s", "\"", ": ", "#", "\n\n" + margin, "\n" + margin}) + "'\n";
        break;
      case 2:
        text += " \"" + words({"\\n", "\\\"", "\\u00e9", ": ", "\\\n" + margin, "\n" + margin}) + "\"\n";
        break;
      case 3:
        text += " |\n" + margin +
                words({"\n" + margin, "\n\n" + margin, "\n" + margin + "  ", ": ", "# x", "'"}) + "\n";
        break;
      case 4:
        text += " >-\n" + margin + words({"\n" + margin, "\n\n" + margin, ": ", "# x", "'"}) + "\n\n";
        break;
      case 5:
        text += " [" + words({"it's", "\"", "é"}) + ", {k: " + words({"it's", "b"}) + "}, 5]\n";
        break;
      default:
        text += "\n";
        map(indent + 2);
    }
  }

  void map(size_t indent) {
    for (uint64_t n = 1 + random_.below(4), i = 0; i < n; ++i) {
      text += std::string(indent, ' ') + "key " + std::to_string(i) + ":";
      if (indent > 6)
        text += " leaf\n";
      else
        value(indent);
    }
  }

  Random random_;
};

// yaml-cpp is the judge: the same keys, kinds and numbers.
void expect_same_shape(const YAML::Node& before, const YAML::Node& after) {
  ASSERT_EQ(before.Type(), after.Type());
  ASSERT_EQ(before.size(), after.size());
  if (before.IsScalar()) {
    const auto is_number = [](const YAML::Node& node) { return node.Scalar() == "5" && node.Tag() == "?"; };
    ASSERT_EQ(is_number(before), is_number(after));
  }
  if (before.IsSequence())
    for (size_t i = 0; i < before.size(); ++i) expect_same_shape(before[i], after[i]);
  if (before.IsMap())
    for (const auto& item : before) {
      ASSERT_TRUE(after[item.first.Scalar()]) << item.first.Scalar();
      expect_same_shape(item.second, after[item.first.Scalar()]);
    }
}

TEST(Yaml, KeepsItsShapeWhateverTheTranslationIs) {
  size_t segments = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const std::string file = YamlFileOfWords(seed).text;
    if (!refusal("yaml", file).empty()) continue;
    const Document document = read_as("yaml", file);
    segments += document.segments.size();
    ASSERT_EQ(identity_of(document), file);
    const std::string translated = in_random_words(document, seed);
    SCOPED_TRACE(file + "\n---\n" + translated);
    ASSERT_EQ(refusal("yaml", translated), "");
    expect_same_shape(YAML::Load(file), YAML::Load(translated));
    if (HasFatalFailure()) return;
    Random random(seed);
    const std::string part = file.substr(0, random.below(file.size()));
    if (refusal("yaml", part).empty()) {
      ASSERT_EQ(identity_of(read_as("yaml", part)), part);
    }
  }
  EXPECT_GT(segments, 4000u);
}

TEST(Yaml, IsReadInLinearTimeWhateverItHolds) {
  for (const std::string part :
       {"a: b\n", "- x y\n", "'", "\"\\n", "word ", "&a ", "? ", "# c\n", "\n", "{a: ", "- - "}) {
    std::string file = "k: one\n";
    while (file.size() < 200'000) file += part;
    if (refusal("yaml", file).empty()) {
      ASSERT_EQ(identity_of(read_as("yaml", file)), file) << part;
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
