// Cleaning: each rule finds its fault, spares what is right, and every pair is counted once.
#include "data/cleaning.h"

#include <gtest/gtest.h>

#include "data/clean/numbers.h"
#include "data/clean/seen_texts.h"
#include "data/clean/side_facts.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

struct Cleaned {
  CleaningResult result;
  std::vector<uint64_t> kept;
};

Cleaned cleaned(const std::vector<TextPair>& pairs, CleaningSettings settings = {}) {
  const TemporaryFolder folder;
  std::string text;
  for (const TextPair& pair : pairs) text += pair.source + "\t" + pair.target + "\n";
  CorpusReader reader({{folder.write("pairs.tsv", text), ""}}, false, 0);
  Cleaned cleaned;
  Preparation work;
  cleaned.result = clean(
      reader, settings, [&](const CleanPair& pair) { cleaned.kept.push_back(pair.index); }, work);
  EXPECT_EQ(cleaned.result.kept(), std::ssize(cleaned.kept));
  int64_t counted = 0;
  for (const int64_t count : cleaned.result.counts) counted += count;
  EXPECT_EQ(counted, std::ssize(pairs));
  EXPECT_EQ(cleaned.result.read, std::ssize(pairs));
  return cleaned;
}

std::vector<TextPair> good_pairs(int count) {
  std::vector<TextPair> pairs;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(1000 + i);
    pairs.push_back({"We sold " + n + " books this year.", "Nous avons vendu " + n + " livres cette année."});
  }
  return pairs;
}

// The fault of one pair among good ones.
Fault fault_of(const TextPair& pair, const CleaningSettings& settings = {}) {
  std::vector<TextPair> pairs = good_pairs(20);
  pairs.push_back(pair);
  const CleaningResult result = cleaned(pairs, settings).result;
  for (size_t i = 1; i < fault_count; ++i)
    if (result.counts[i] > 0) return static_cast<Fault>(i);
  return Fault::none;
}

TEST(Cleaning, FindsEachFault) {
  EXPECT_EQ(fault_of({"Where is he?", "Où est-il ?"}), Fault::none);
  EXPECT_EQ(fault_of({"Where is he?\xff", "Où est-il ?"}), Fault::invalid);
  EXPECT_EQ(fault_of({"Where is he?", "  "}), Fault::empty);
  EXPECT_EQ(fault_of({"Where was he?", "OÃ¹ Ã©tait-il ?"}), Fault::encoding);
  EXPECT_EQ(fault_of({"On the way", "Ã\u00a0 la gare"}), Fault::encoding);
  EXPECT_EQ(fault_of({"It’s him.", "Câ€™est lui."}), Fault::encoding);
  EXPECT_EQ(fault_of({"Where is he?", "O\xEF\xBF\xBD est-il ?"}), Fault::encoding);
  EXPECT_EQ(fault_of({"See www.example.org", "https://example.org/a"}), Fault::no_words);
  EXPECT_EQ(fault_of({"<br/> &nbsp; 12", "<br/> 12"}), Fault::no_words);
  EXPECT_EQ(fault_of({"Total: ------- ****", "Total : ------- ****"}), Fault::symbols);
  EXPECT_EQ(fault_of({"Where is he?", "Где он сейчас?"}), Fault::script);
  EXPECT_EQ(fault_of({"Where is he?", "Où est-il donc allé avec tous ces gens qui le cherchaient ?"}),
            Fault::ratio);
  EXPECT_EQ(fault_of({"All of these are words.", "All of these are words !"}), Fault::copy);
  EXPECT_EQ(fault_of({"He is 37 years old.", "Il a 36 ans."}), Fault::numbers);
  EXPECT_EQ(fault_of(good_pairs(1)[0]), Fault::duplicate);
  EXPECT_EQ(fault_of({"«CAFÉ» is a word.", "«CAFÉ» est un mot."}), Fault::none);
  EXPECT_EQ(fault_of({"Taxi!", "Taxi !"}), Fault::none);
  std::string words;
  for (int i = 0; i < 151; ++i) words += "a ";
  EXPECT_EQ(fault_of({words, words}), Fault::too_long);
}

TEST(Cleaning, NumbersMayBeWrittenOtherwise) {
  for (const auto& [source, target] :
       std::vector<std::pair<const char*, const char*>>{{"1,000.5 miles", "1 000,5 miles"},
                                                        {"30 years", "trente ans"},
                                                        {"2.5 million", "2 500 000"},
                                                        {"at 3 pm", "à 15 h"},
                                                        {"the 1960s", "les années 60"},
                                                        {"1, 2, 3", "1,2,3"},
                                                        {"٣٠ عاما", "30 ans"},
                                                        {"no number", "aucun"}})
    EXPECT_FALSE(numbers_differ(source, target)) << source;
  for (const auto& [source, target] : std::vector<std::pair<const char*, const char*>>{
           {"in 1987", "en 1978"}, {"37 men", "36 hommes"}, {"in 1987", "un jour"}, {"10 men", "100 hommes"}})
    EXPECT_TRUE(numbers_differ(source, target)) << source;
}

TEST(Cleaning, DuplicatesAreOfPairsOrSides) {
  std::vector<TextPair> pairs = {
      {"one dog", "un chien"}, {"one dog", "le chien"}, {"a dog", "un chien"}, {"one dog ", " un chien"}};
  CleaningSettings settings;
  const auto kept = [&](Duplicates duplicates) {
    settings.rules.duplicates = duplicates;
    return cleaned(pairs, settings).kept;
  };
  EXPECT_EQ(kept(Duplicates::none).size(), 4U);
  EXPECT_EQ(kept(Duplicates::pair), (std::vector<uint64_t>{0, 1, 2}));
  EXPECT_EQ(kept(Duplicates::source), (std::vector<uint64_t>{0, 2}));
  EXPECT_EQ(kept(Duplicates::target), (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(kept(Duplicates::either), (std::vector<uint64_t>{0}));
}

// Else both would be lost.
TEST(Cleaning, ADuplicateOfWhatTheModelRefusesIsKept) {
  CleaningSettings settings;
  settings.rules.min_score = -2;
  settings.scorer = [](std::span<const TextPair> pairs) {
    std::vector<double> scores;
    for (const TextPair& pair : pairs) scores.push_back(pair.target == "le chat" ? -3 : -1);
    return scores;
  };
  for (const Duplicates duplicates : {Duplicates::source, Duplicates::either}) {
    settings.rules.duplicates = duplicates;
    const Cleaned result =
        cleaned({{"one dog", "le chat"}, {"one dog", "un chien"}, {"one dog", "le chien"}}, settings);
    EXPECT_EQ(result.kept, (std::vector<uint64_t>{1}));
    EXPECT_EQ(result.result.of(Fault::score), 1);
    EXPECT_EQ(result.result.of(Fault::duplicate), 1);
  }
}

TEST(Cleaning, IsTheSameWithAnyNumberOfThreads) {
  std::vector<TextPair> pairs = good_pairs(20'000);
  for (size_t i = 0; i < pairs.size(); i += 3) pairs[i].target = "Nous en avons vendu 999.";
  CleaningSettings settings = {.examples = 5};
  const Cleaned one = cleaned(pairs, settings);
  settings.threads = 3;
  const Cleaned three = cleaned(pairs, settings);
  EXPECT_EQ(one.kept, three.kept);
  EXPECT_EQ(one.result.of(Fault::numbers), 6667);
  const auto& examples = three.result.examples[static_cast<size_t>(Fault::numbers)];
  ASSERT_EQ(examples.size(), 5U);
  EXPECT_GT(examples[4].index - examples[0].index, 1000U);  // from the whole corpus
}

// Knows French by "le", and nothing else.
class ArticleIdentifier : public LanguageIdentifier {
 public:
  std::vector<std::pair<std::string, double>> probabilities(const std::string& line) const override {
    const bool french = line.find("le ") != line.npos;
    return {{"fr", french ? 0.9 : 0.01}, {"en", french ? 0.01 : 0.9}};
  }
};

TEST(Cleaning, AsksTheIdentifierAndTheModel) {
  const ArticleIdentifier identifier;
  const CleaningSettings french = {.to = "fra_Latn", .identifier = &identifier};
  const TextPair good = {"the house is very beautiful", "le village est vraiment beau"};
  const TextPair bad = {"the house is very beautiful", "this is another sentence in English"};
  EXPECT_EQ(fault_of(good, {.to = "fr"}), Fault::none);
  EXPECT_EQ(fault_of(bad, {.to = "fr"}), Fault::none);
  EXPECT_EQ(cleaned({good, bad, {"no", "non"}}, french).kept, (std::vector<uint64_t>{0, 2}));
  CleaningSettings scored;
  scored.rules.min_score = -2;
  scored.scorer = [](std::span<const TextPair> pairs) {
    std::vector<double> scores;
    for (const TextPair& pair : pairs) scores.push_back(pair.target.starts_with("le") ? -1 : -3);
    return scores;
  };
  const Cleaned result = cleaned({bad, good}, scored);
  EXPECT_EQ(result.kept, (std::vector<uint64_t>{1}));
  EXPECT_EQ(result.result.of(Fault::score), 1);
}

TEST(SeenTexts, RemembersEachOnceInLittleMemory) {
  SeenTexts seen;
  for (const bool is_new : {true, false})
    for (uint64_t i = 0; i < 200'000; ++i) ASSERT_EQ(seen.insert(XXH3_128bits(&i, sizeof i)), is_new);
  EXPECT_LT(seen.bytes(), 200'000U * 27);
  EXPECT_TRUE(seen.insert({0, 0}));
  EXPECT_FALSE(seen.insert({0, 0}));
}

}  // namespace
}  // namespace dragoman::internal
