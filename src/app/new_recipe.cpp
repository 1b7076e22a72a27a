// dragoman new: a commented recipe for a user's own corpus, sized to it and to this machine.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/files.h"
#include "base/lines.h"
#include "base/quotes.h"
#include "base/status_line.h"
#include "base/threads.h"
#include "data/corpus.h"
#include "data/standard_input.h"
#include "kernels/devices.h"
#include "text/language_tokens.h"
#include "text/scripts.h"
#include "text/sentence_rules.h"
#include "text/unicode.h"
#include "train/recipe.h"

namespace dragoman::internal {
namespace {

struct NewRecipeOptions {
  DataConfig data;
  std::string out;
};

void declare(Options& options, NewRecipeOptions& o) {
  auto own = options.section("", "Options");
  own.add("source", o.data.source, "source text, one sentence per line: a file or several").shows("FILE");
  own.add("target", o.data.target, "its translation, line by line").shows("FILE");
  own.add("tsv", o.data.tsv, "files with both sides: source, tab, target").shows("FILE");
  own.add("valid-source", o.data.valid_source, "validation text; by default, part of the corpus is held out")
      .shows("FILE");
  own.add("valid-target", o.data.valid_target, "its translation").shows("FILE");
  own.add("from", o.data.from, "source language; by default the ending of the source's name, as in a.en.gz");
  own.add("to", o.data.to, "target language");
  own.add("out", o.out, "file of the recipe; by default NAME-OF-SOURCE.toml").shows("FILE");
}

// What is known of a corpus without learning its vocabulary.
struct CorpusFacts {
  int64_t pairs = 0;
  bool is_estimate = false;   // of a corpus that was not read to its end
  double tokens = 0;          // of a mean pair, both sides
  int64_t long_sentence = 0;  // tokens: 99 % of the pairs are shorter on either side
  int64_t characters = 0;     // different ones
  bool same_script = false;
  std::string example;  // a short source sentence
};

constexpr int64_t facts_read = 500'000;  // pairs: their facts are everyone's
// A subword has about four bytes in an alphabet, and in Chinese characters, whose subwords are shorter.
constexpr double bytes_per_token = 4;

using Letters = std::unordered_map<char32_t, double>;

// What two languages of one alphabet have in common is most of their text, others have only digits and names.
bool share_script(const Letters& one, const Letters& other) {
  double sums[2] = {0, 0}, common = 0;
  for (const auto& [letter, count] : one) sums[0] += count;
  for (const auto& [letter, count] : other) sums[1] += count;
  for (const auto& [letter, count] : one) {
    if (const auto found = other.find(letter); found != other.end())
      common += std::min(count / sums[0], found->second / sums[1]);
  }
  return common > 0.3;
}

void count_letters(std::string_view text, Letters& letters, Letters& characters) {
  for (const char32_t c : code_points(text)) {
    ++characters[c];
    if (is_letter(c)) ++letters[to_lower(c)];
  }
}

// Something to type between quotes.
bool is_example(std::string_view text) {
  return text.size() >= 10 && text.size() <= 60 && text.find_first_of("\"$`\\!\t") == text.npos;
}

CorpusFacts facts_of(const DataConfig& data) {
  const std::vector<CorpusSource> sources = corpus_sources(data);
  CorpusReader reader(sources, false, 0);
  CorpusFacts facts;
  Letters letters[2], characters;
  std::vector<size_t> longer;  // side of each pair
  double bytes = 0;
  for (RawPair pair; reader.next(pair);) {
    if (is_blank(pair.source) || is_blank(pair.target)) continue;
    if (++facts.pairs == facts_read) break;
    bytes += static_cast<double>(pair.source.size() + pair.target.size());
    longer.push_back(std::max(pair.source.size(), pair.target.size()));
    count_letters(pair.source, letters[0], characters);
    count_letters(pair.target, letters[1], characters);
    if (facts.example.empty() && is_example(pair.source)) facts.example = pair.source;
  }
  if (facts.pairs == 0)
    throw Error("no pair of sentences to learn from in {}: check that the lines are not empty",
                sources.front().name());
  const auto rank = longer.begin() + static_cast<std::ptrdiff_t>(longer.size() * 99 / 100);
  std::nth_element(longer.begin(), rank, longer.end());
  facts.tokens = bytes / static_cast<double>(longer.size()) / bytes_per_token;
  facts.long_sentence = static_cast<int64_t>(static_cast<double>(*rank) / bytes_per_token);
  facts.characters = static_cast<int64_t>(characters.size());
  facts.same_script = share_script(letters[0], letters[1]);
  facts.is_estimate = facts.pairs == facts_read;
  if (facts.is_estimate) {
    const double all = static_cast<double>(stored_bytes(sources)) / static_cast<double>(reader.bytes_read());
    facts.pairs = static_cast<int64_t>(std::max(1.0, all) * static_cast<double>(facts.pairs));
  }
  return facts;
}

// Sizes that worked for corpora of their size, see docs/results.md.
struct SizeClass {
  int64_t pairs;  // at least
  int64_t vocabulary;
  int64_t layers, d_model, heads, d_ff;
  double dropout;
  int64_t batch_tokens, accumulate;
  double learning_rate;
  int64_t epochs;
};
constexpr SizeClass size_classes[] = {
    {2'000'000, 32'000, 6, 512, 8, 2048, 0.1, 4096, 4, 0.002, 3},
    {400'000, 16'000, 3, 512, 8, 2048, 0.1, 4096, 2, 0.002, 6},
    {60'000, 8'000, 3, 256, 4, 1024, 0.1, 2048, 1, 0.003, 10},
    {15'000, 6'000, 4, 128, 4, 256, 0.2, 2048, 1, 0.003, 40},
    {0, 2'000, 2, 128, 4, 256, 0.3, 1024, 1, 0.003, 100},
};
constexpr double most_minutes = 24 * 60;
constexpr int64_t too_few_pairs = 2000;

// What training computes on unless it is told otherwise.
struct Machine {
  bool has_gpu = is_gpu(kernels_of_device("auto"));
  std::string name = has_gpu ? "the GPU" : counted(available_threads(), "thread");
};

// A layer's products come three times: forward, and twice backward. The speed is that of a processor with AVX-512 in
// fp32, or of an H100 in bf16 with batches as small as these, less a margin for others.
double minutes_of(const SizeClass& size, int64_t vocabulary, const CorpusFacts& facts,
                  const Machine& machine) {
  constexpr double of_thread = 50e9, of_gpu = 40e12;
  const auto d = static_cast<double>(size.d_model), d_ff = static_cast<double>(size.d_ff);
  const double layers = static_cast<double>(size.layers) * (12 * d * d + 4 * d * d_ff);
  const double per_token = 6 * (layers + d * static_cast<double>(vocabulary)) / 2;
  const double tokens = static_cast<double>(facts.pairs * size.epochs) * facts.tokens;
  return tokens * per_token / (machine.has_gpu ? of_gpu : of_thread * available_threads()) / 60;
}

struct NewRecipe {
  SizeClass size = {};
  int64_t vocabulary = 0, max_length = 0, hold_out = 0, epochs = 0, every = 0;
  double minutes = 0;
};

// Of a large corpus, the largest model that can read it a few times in a day.
NewRecipe sized(const CorpusFacts& facts, const DataConfig& data, const Machine& machine) {
  NewRecipe recipe;
  for (const SizeClass& size : size_classes) {
    if (facts.pairs < size.pairs) continue;
    recipe.size = size;
    // Characters need subwords of their own before there is room for words.
    recipe.vocabulary = std::max(size.vocabulary, 2 * facts.characters);
    recipe.minutes = minutes_of(size, recipe.vocabulary, facts, machine);
    if (recipe.minutes <= most_minutes || size.d_model <= 256) break;
  }
  // A GPU computes the parts of an update at once.
  if (machine.has_gpu) recipe.size.batch_tokens *= std::exchange(recipe.size.accumulate, 1);
  // Training may take longer only where a single epoch does.
  const double share = std::min(1.0, most_minutes / recipe.minutes);
  recipe.epochs = std::max<int64_t>(std::lround(share * static_cast<double>(recipe.size.epochs)), 1);
  recipe.minutes *= static_cast<double>(recipe.epochs) / static_cast<double>(recipe.size.epochs);
  recipe.max_length = std::clamp<int64_t>(2 * (facts.long_sentence / 10 + 1) * 10, 50, 250);
  if (data.valid_source.empty()) recipe.hold_out = std::clamp<int64_t>(facts.pairs / 20, 1, 2000);
  const double batch = static_cast<double>(recipe.size.batch_tokens * recipe.size.accumulate);
  const double epoch = static_cast<double>(facts.pairs) * facts.tokens / 2 / batch;
  recipe.every =
      100 * std::clamp<int64_t>(std::lround(epoch * static_cast<double>(recipe.epochs) / 30 / 100), 1, 50);
  return recipe;
}

// "a.en" and "a.en.gz" are English. A longer ending may be anything: .txt is a language's code, too.
std::string guessed_language(const std::vector<std::string>& files) {
  if (files.empty()) return "";
  const std::string ending = uncompressed_name(files.front()).extension().string();
  const bool is_code = ending.size() == 3 || ending.find_first_of("-_") != ending.npos;
  return is_code && is_language(ending.substr(1)) ? ending.substr(1) : "";
}

void guess_languages(DataConfig& data) {
  const std::string from = guessed_language(data.source), to = guessed_language(data.target);
  if (from == to) return;
  if (data.from.empty()) data.from = from;
  if (data.to.empty()) data.to = to;
}

std::string default_recipe_path(const DataConfig& data) {
  if (reads_standard_input(data))
    throw UsageError("new needs --out FILE, the recipe's name, where the corpus is standard input");
  return uncompressed_name(corpus_sources(data).front().source).stem().string() + ".toml";
}

// Lines of keys and values, each with a comment.
class RecipeText {
 public:
  void table(const char* name) { text_ += fmt::format("\n[{}]\n", name); }
  void line(const std::string& key, const OptionValue& value, const std::string& comment = "") {
    const std::string setting = key + " = " + to_text(value);
    text_ += comment.empty() ? setting + "\n" : fmt::format("{:<27}# {}\n", setting, comment);
  }
  void comment(const std::string& comment) { text_ += comment.empty() ? "#\n" : "# " + comment + "\n"; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string pairs_in_words(const CorpusFacts& facts) {
  return (facts.is_estimate ? "about " : "") + with_commas(facts.pairs) +
         (facts.pairs == 1 ? " pair" : " pairs");
}

void write_data(RecipeText& text, const CorpusFacts& facts, const DataConfig& data, const NewRecipe& recipe) {
  const auto files = [&](const char* key, const std::vector<std::string>& value) {
    if (!value.empty()) text.line(key, value);
  };
  text.table("data");
  if (!data.from.empty()) text.line("from", data.from, "languages: by them sentences are split");
  if (!data.to.empty()) text.line("to", data.to);
  files("source", data.source);
  files("target", data.target);
  files("tsv", data.tsv);
  files("valid_source", data.valid_source);
  files("valid_target", data.valid_target);
  if (recipe.hold_out > 0) text.line("hold_out", recipe.hold_out, "pairs for validation, never trained on");
  text.line("max_length", recipe.max_length,
            fmt::format("subwords; 99 % of the sentences have fewer than about {}", facts.long_sentence + 1));
}

void write_sizes(RecipeText& text, const CorpusFacts& facts, const NewRecipe& recipe) {
  const SizeClass& size = recipe.size;
  text.table("vocabulary");
  text.line("size", recipe.vocabulary, "subwords: more for more text, and for many characters");
  text.line(
      "shared", facts.same_script,
      facts.same_script ? "both languages have the same script" : "the languages have different scripts");
  text.table("model");
  text.line("encoder_layers", size.layers, "as large a model as " + pairs_in_words(facts) + " can train");
  text.line("decoder_layers", size.layers);
  text.line("d_model", size.d_model);
  text.line("heads", size.heads, fmt::format("{} columns each", size.d_model / size.heads));
  text.line("d_ff", size.d_ff);
  text.line("norm_eps", 1e-5, "what export --format huggingface needs");
  text.line("tied", facts.same_script ? "all" : "output",
            "embeddings that are also the output layer's weights");
  text.line("dropout", size.dropout, "more for fewer pairs, which a model learns by heart");
}

std::string time_in_words(double minutes) {
  return minutes < 90 ? counted(std::lround(minutes + 0.5), "minute")
                      : counted(std::lround(minutes / 60), "hour");
}

void write_training(RecipeText& text, const DataConfig& data, const NewRecipe& recipe,
                    const Machine& machine) {
  const SizeClass& size = recipe.size;
  text.table("training");
  text.line("batch_tokens", size.batch_tokens, "small corpora learn faster from small batches");
  if (size.accumulate > 1)
    text.line("accumulate", size.accumulate, "batches per update, as if they were one larger batch");
  text.line("optimizer", "muon", "learns from about half as many updates as adam");
  text.line("momentum", 0.9, "about the last ten updates");
  text.line("schedule", "constant", "the learning rate stays the same until the cooldown");
  text.line("learning_rate", size.learning_rate);
  text.line("cooldown", 0.3, "last part of the run, in which the learning rate falls to 0");
  text.line("label_smoothing", 0.1);
  text.line("ema", 0.998, "keeps the moving average of the weights");
  if (!data.from.empty() && !data.to.empty())
    text.line("guided_alignment", 0.5, "attention also learns which words belong together, from an aligner");
  text.line("precision", "auto", "bf16 where this machine is faster with it");
  text.line(
      "max_epochs", recipe.epochs,
      fmt::format("times through the corpus: about {} with {}", time_in_words(recipe.minutes), machine.name));
  text.table("validation");
  text.line("every", recipe.every, "updates");
  text.line("keep_best_by", "bleu");
  text.line("patience", int64_t{10}, "the cooldown begins after this many validations without a better one");
}

std::string text_of(const CorpusFacts& facts, const DataConfig& data, const std::string& path) {
  const Machine machine;
  const NewRecipe recipe = sized(facts, data, machine);
  RecipeText text;
  text.comment(pairs_in_words(facts) + ", written by dragoman new: change what you like.");
  text.comment("");
  text.comment("    dragoman train " + path);
  write_data(text, facts, data, recipe);
  write_sizes(text, facts, recipe);
  write_training(text, data, recipe, machine);
  return text.text();
}

// The text must be a recipe, whatever the names of the files.
void check_text(const std::string& text, const std::string& path) {
  Recipe recipe;
  Options options;
  declare(options, recipe);
  options.read_recipe(text, path);
  options.check([&] { validate(recipe); });
}

void print_next(const CorpusFacts& facts, const DataConfig& data, const std::string& path) {
  const std::string model = default_run_folder(path);
  std::cout << fmt::format("{} is a recipe for {}. What follows:\n\n", path, pairs_in_words(facts))
            << fmt::format("  train        dragoman train {}\n", path)
            << fmt::format("  translate    echo \"{}\" | dragoman translate --model {}\n",
                           facts.example.empty() ? "..." : facts.example, model);
  if (data.valid_source.size() == 1) {
    std::cout << fmt::format("  evaluate     dragoman evaluate --model {} --source {} --reference {}\n",
                             model, data.valid_source[0], data.valid_target[0]);
  } else {
    std::cout << fmt::format("  serve        dragoman serve --model {}\n", model);
  }
  if (data.from.empty() || data.to.empty())
    std::cout << "\nThe names of the files do not tell the languages: to name them, add from and to under "
                 "[data], as\n"
                 "from = \"en\".\n";
  if (facts.pairs < too_few_pairs) {
    std::cout << "\nSo few pairs do not teach a language: expect nonsense (docs/own_corpus.md).\n";
  } else if (facts.pairs < size_classes[2].pairs) {
    std::cout
        << "\nThat is a small corpus: to fine-tune a published model with it gives better translations\n"
           "(docs/training.md, Fine-tuning).\n";
  }
}

}  // namespace

void new_recipe(const Arguments& arguments) {
  NewRecipeOptions o;
  Options options;
  declare(options, o);
  CommandLine line("new", summary_of("new"));
  line.add_options(options);
  if (!line.read(arguments)) return;
  if (o.data.source.empty() && o.data.tsv.empty())
    throw UsageError("new needs --source FILE and --target FILE, or --tsv FILE: see dragoman new --help");
  if (o.data.source.size() != o.data.target.size())
    throw UsageError("--source and --target need the same number of files");
  for (size_t i = 0; i < o.data.source.size(); ++i) {
    std::error_code none;
    if (std::filesystem::equivalent(o.data.source[i], o.data.target[i], none))
      throw UsageError("--source and --target are both {}: name the two sides of the corpus",
                       o.data.source[i]);
  }
  if (o.data.valid_source.size() != o.data.valid_target.size())
    throw UsageError("--valid-source and --valid-target need the same number of files");
  guess_languages(o.data);
  options.check([&] {
    check_language(o.data.from, "from");
    check_language(o.data.to, "to");
  });
  const std::string path = o.out.empty() ? default_recipe_path(o.data) : o.out;
  if (std::filesystem::exists(path))
    throw Error("{} exists already: delete it, or name another file with --out", path);
  const CorpusFacts facts = facts_of(o.data);
  const std::string text = text_of(facts, o.data, path);
  check_text(text, path);
  write_file(path, {text});
  print_next(facts, o.data, path);
}

}  // namespace dragoman::internal
