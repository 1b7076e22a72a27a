// Each recipe on ten pairs in the files that its corpus consists of, as they come out of the archives: the pairs that
// it reads, and two updates of a narrow model.
#include <filesystem>

#include "app/translating_commands.h"
#include "data/prepare_corpus.h"
#include "temporary_folder.h"
#include "train/recipe.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

const std::string recipes = DRAGOMAN_SOURCE_DIR "/recipes/";

Recipe recipe_of(const std::string& path) {
  Recipe recipe;
  Options options;
  declare(options, recipe);
  options.read_recipe_file(path);
  return recipe;
}

std::vector<std::string> recipes_with_corpora() {
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(recipes)) {
    if (file.is_directory()) continue;
    if (recipe_of(file.path().string()).data.synthetic == Synthetic::none)
      names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

// Every word occurs in two pairs at least, and no two pairs are the same.
struct TenPairs {
  std::vector<TextPair> pairs;

  TenPairs() {
    const std::pair<const char*, const char*> nouns[] = {{"Hund", "dog"},
                                                         {"Bär", "bear"},
                                                         {"Müll & Co", "trash & co"},
                                                         {"Igel", "hedgehog"},
                                                         {"Wal", "whale"}};
    const std::pair<const char*, const char*> verbs[] = {{"schläft", "doesn't run"},
                                                         {"läuft", "runs well-rested"}};
    for (const auto& [verb, does] : verbs) {
      for (const auto& [noun, animal] : nouns)
        pairs.push_back({fmt::format("„Der {} {}“, sagt er.", noun, verb),
                         fmt::format("\"The {} {}\", he says.", animal, does)});
    }
  }
};
const TenPairs ten;

std::string escaped(std::string text) {
  for (size_t at = 0; (at = text.find('&', at)) != text.npos; ++at) text.insert(at + 1, "amp;");
  return text;
}

std::string as_iwslt(const std::vector<std::string>& lines) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i % 5 == 0)
      text += "<url>http://www.ted.com/talks/x</url>\n<keywords>a, b</keywords>\n<title>A & B: C</title>\n";
    text += lines[i] + " \n";
    if (i % 5 == 4) text += "<reviewer></reviewer>\n<translator href=\"x\">Someone</translator>\n";
  }
  return text;
}

std::string as_segments(const std::vector<std::string>& lines) {
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<mteval>\n<srcset setid=\"x\" srclang=\"y\">\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i % 5 == 0) text += "<doc docid=\"" + std::to_string(i) + "\">\n<title>A & B</title>\n<p>\n";
    text += "<seg id=\"" + std::to_string(i % 5 + 1) + "\"> " + escaped(lines[i]) + " </seg>\n";
    if (i % 5 == 4) text += "</p>\n</doc>\n";
  }
  return text + "</srcset>\n</mteval>\n";
}

void write_lines(const fs::path& path, const std::vector<std::string>& lines) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  const std::string name = path.filename().string();
  const bool iwslt = name.starts_with("train.tags."),
             segments = path.extension() == ".xml" || path.extension() == ".sgm";
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  write_file(path.string(), {iwslt ? as_iwslt(lines) : segments ? as_segments(lines) : text});
}

void write_sides(const std::vector<std::string>& source, const std::vector<std::string>& target) {
  std::vector<std::string> sources, targets;
  for (const TextPair& pair : ten.pairs) {
    sources.push_back(pair.source);
    targets.push_back(pair.target);
  }
  for (const std::string& path : source) write_lines(path, sources);
  for (const std::string& path : target) write_lines(path, targets);
}

void write_corpus(const DataConfig& data) {
  write_sides(data.source, data.target);
  write_sides(data.valid_source, data.valid_target);
  std::vector<std::string> columns;
  for (const TextPair& pair : ten.pairs)
    columns.push_back(pair.source + "\t" + pair.target + "\tCC-BY 2.0 (France)");
  for (const std::string& path : data.tsv) write_lines(path, columns);
  for (const std::string& path : data.text) write_lines(path, columns);
  write_sides(data.valid_text, {});
  if (!data.terms.empty()) write_lines(data.terms, {"house\tmaison"});
}

// A language model learns the first column.
TextPair wanted_of(const DataConfig& data, uint64_t pair) {
  const TextPair& texts = ten.pairs[pair % 10];
  return is_one_sided(data) ? TextPair{"", texts.source} : texts;
}

// In whose folder the paths of recipes are relative.
class InFolder {
 public:
  explicit InFolder(const std::string& folder) { fs::current_path(folder); }
  ~InFolder() { fs::current_path(before_); }

 private:
  const fs::path before_ = fs::current_path();
};

class ArticleCorpora : public TranslatingCommands, public testing::WithParamInterface<std::string> {};

TEST_P(ArticleCorpora, TheRightPairsAreRead) {
  const TemporaryFolder folder;
  const InFolder in(folder.path(""));
  Recipe recipe = recipe_of(recipes + GetParam() + ".toml");
  recipe.data.hold_out = 0;
  write_corpus(recipe.data);
  const PreparedCorpus corpus = prepare_corpus(recipe.data, recipe.vocabulary, "data-of-model", 1);
  const size_t sources = recipe.data.source.size() + recipe.data.tsv.size() + recipe.data.text.size();
  ASSERT_EQ(corpus.counts.kept, static_cast<int64_t>(10 * sources));
  EXPECT_EQ(corpus.counts.read, corpus.counts.kept);
  std::vector<int32_t> source, target;
  for (const PairRecord& pair : corpus.shards[0].pairs()) {
    corpus.shards[0].read(pair, source, target);
    const TextPair wanted = wanted_of(recipe.data, pair.pair);
    EXPECT_EQ(corpus.vocabularies.source->decode(source), wanted.source);
    EXPECT_EQ(corpus.vocabularies.target->decode(target), wanted.target);
  }
  const std::vector<TextPair> validation = validation_pairs(recipe.data, "data-of-model");
  ASSERT_EQ(validation.size(), 10 * (recipe.data.valid_source.size() + recipe.data.valid_text.size()));
  for (size_t i = 0; i < validation.size(); ++i) {
    const TextPair wanted = wanted_of(recipe.data, i);
    EXPECT_EQ(validation[i].source, wanted.source);
    EXPECT_EQ(validation[i].target, wanted.target);
  }
}

TEST_P(ArticleCorpora, ItTrainsOnThem) {
  const InFolder in(folder_.path);
  const std::string recipe = recipes + GetParam() + ".toml";
  const DataConfig data = recipe_of(recipe).data;
  write_corpus(data);
  run("train " + recipe +
      " --out run --model.d_model 32 --model.d_ff 32 --training.batch_tokens 100 --training.accumulate 1 "
      "--training.max_steps 2 --validation.every 2" +
      (data.hold_out > 0 ? " --data.hold_out 2" : ""));
  EXPECT_TRUE(fs::exists("run/model.safetensors"));
}

INSTANTIATE_TEST_SUITE_P(Recipes, ArticleCorpora, testing::ValuesIn(recipes_with_corpora()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

class WordModel : public TranslatingCommands {};

// Every command that loads a model divides the text into words, and those that write text put it together.
TEST_F(WordModel, TakesAndGivesRawText) {
  const InFolder in(folder_.path);
  const std::string recipe = recipes + "annotated-transformer-iwslt-de-en.toml";
  write_corpus(recipe_of(recipe).data);
  const std::string shown = run("prepare " + recipe + " --out run --show 2");
  EXPECT_NE(shown.find("▁„  ▁Der"), std::string::npos) << shown;
  EXPECT_NE(shown.find("▁sagt  ▁er  ▁."), std::string::npos) << shown;
  run("train " + recipe +
      " --out run --model.d_model 32 --model.heads 2 --model.d_ff 64 --model.encoder_layers 1 "
      "--model.decoder_layers 1 --training.max_epochs 0 --training.max_steps 300 --training.warmup 50 "
      "--training.batch_tokens 120 --model.dropout 0 --model.attention_dropout 0 --model.activation_dropout "
      "0 "
      "--model.embedding_dropout 0 --checkpoints.every 150");
  const std::string source = ten.pairs[0].source + "\n", target = ten.pairs[0].target + "\n";
  EXPECT_EQ(run("translate --model run", source), target);
  const std::string tokens = run("translate --model run --format json", source);
  EXPECT_NE(tokens.find("▁doesn't"), std::string::npos) << tokens;

  run("quantize --model run --precision int8 --out int8");
  EXPECT_EQ(run("translate --model int8", source), target);
  run("average --last 2 run --out mean");
  EXPECT_EQ(run("translate --model mean", source), target);
  const std::string scores = run("evaluate --model run --source " + recipe_of(recipe).data.valid_source[0] +
                                 " --reference " + recipe_of(recipe).data.valid_target[0]);
  EXPECT_NE(scores.find(" = 100.00 "), std::string::npos) << scores;
  run("score --model run --source " + write("s", source) + " --target " + write("t", target));
  EXPECT_NE(run("inspect --model run --format json --text '" + ten.pairs[0].source + "'").find("▁Hund"),
            std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
