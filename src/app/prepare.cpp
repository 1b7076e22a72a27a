#include <chrono>
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/shared_options.h"
#include "app/show_pairs.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/status_line.h"
#include "base/threads.h"
#include "data/batches.h"
#include "data/prepare_corpus.h"
#include "search/shortlist.h"
#include "train/recipe.h"
#include "train/task.h"

namespace dragoman::internal {
namespace {

struct PrepareOptions {
  std::string folder;
  int64_t show = 0;
  int64_t shortlist = 0;
};

void declare(Options& options, PrepareOptions& own) {
  auto section = options.section("", "Options");
  declare_run_folder(section, own.folder);
  section.add("show", own.show, "print N pairs as subwords, as the model sees them",
              at_least(0).at_most(1'000'000));
  section.add(
      "shortlist", own.shortlist,
      "learn the N most likely target subwords of each source subword, for translate --shortlist; 0: none",
      at_least(0).at_most(10'000));
}

std::string commas(const nlohmann::json& number) { return with_commas(number.get<int64_t>()); }

void print_counts(const nlohmann::json& pairs) {
  const nlohmann::json& left_out = pairs["left_out"];
  std::cout << fmt::format("{:<12}{:>12}\n", "pairs read", commas(pairs["read"]))
            << fmt::format("{:<12}{:>12}\n", "  kept", commas(pairs["kept"]))
            << fmt::format("{:<12}{:>12}\n", "  held out", commas(pairs["held_out"]))
            << fmt::format("{:<12}{:>12}   empty\n", "  left out", commas(left_out["empty"]))
            << fmt::format("{:<12}{:>12}   longer than data.max_length\n", "", commas(left_out["too_long"]))
            << fmt::format("{:<12}{:>12}   beyond data.max_ratio\n", "", commas(left_out["ratio"]))
            << fmt::format("{:<12}{:>12}   invalid: not UTF-8, a NUL byte, or a missing column\n", "",
                           commas(left_out["invalid"]));
}

void print_sides(const nlohmann::json& report) {
  std::cout << fmt::format("\n{:<8}{:>12}{:>13}{:>11}   length: mean{:>6}{:>6}{:>6}{:>6}{:>6}\n", "",
                           "vocabulary", "tokens", "unknown", "1 %", "50 %", "90 %", "99 %", "max");
  for (const char* name : {"source", "target"}) {
    const nlohmann::json &side = report[name], &lengths = side["lengths"];
    std::cout << fmt::format("{:<8}{:>12}{:>13}{:>9.3f} %{:>15.1f}", name, commas(side["vocabulary"]),
                             commas(report["pairs"][std::string(name) + "_tokens"]),
                             100 * side["unknown"].get<double>(), side["mean_length"].get<double>());
    for (const char* part : {"p1", "p50", "p90", "p99", "max"}) {
      std::cout << fmt::format("{:>6}", lengths[part].get<int64_t>());
    }
    std::cout << "\n";
  }
}

// One pair of each of the first batches, so that they are of many lengths.
void show_pairs(const PreparedCorpus& corpus, const BatchSettings& settings, int64_t count) {
  ShardedBatches batches(corpus, settings);
  const int64_t width = terminal_width();
  for (size_t round = 0; count > 0; ++round) {
    bool any = false;
    while (auto batch = batches.next()) {
      if (count == 0 || round >= batch->pairs.size()) continue;
      show_pair(*batch, round, corpus.vocabularies, width, std::cout);
      any = true;
      if (--count == 0) return;
    }
    if (!any) return;
    batches.seek({});
  }
}

void make_shortlist(const PreparedCorpus& corpus, const PrepareOptions& own, int threads) {
  const auto begin = std::chrono::steady_clock::now();
  const Lexicon lexicon = learn_lexicon(corpus, {.per_source = own.shortlist}, threads);
  write_shortlist(own.folder, lexicon, corpus.vocabularies);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  log_info("shortlist of {} target subwords per source subword, in {:.1f} s", own.shortlist, seconds.count());
}

}  // namespace

void prepare(const Arguments& arguments) {
  Recipe recipe;
  PrepareOptions own;
  Options own_options, options;
  declare(own_options, own);
  declare(options, recipe);

  std::string path;
  CommandLine line("prepare", summary_of("prepare"));
  add_recipe(line, path);
  line.add_options(own_options);
  line.add_options(options);
  if (!line.parse(arguments)) return;

  options.read_recipe_file(path);
  line.set_flags();
  options.check([&] { validate(recipe); });
  options.check([&] { require_corpus(recipe.data); });
  if (recipe.data.synthetic != Synthetic::none) throw Error("{}: data.synthetic needs no preparation", path);
  if (own.shortlist > 0 && is_one_sided(recipe.data))
    throw UsageError("--shortlist has no effect on data.text, whose lines have no sources: leave it out");
  if (own.folder.empty()) own.folder = default_run_folder(path);
  watch_signals();

  const int threads =
      recipe.training.threads > 0 ? static_cast<int>(recipe.training.threads) : available_threads();
  const PreparedCorpus corpus = prepare_corpus(recipe.data, recipe.vocabulary, prepared_folder(own.folder),
                                               threads, {}, wanted_links(recipe));
  recipe = resolved(recipe, corpus.vocabularies, own.folder);
  const BatchSettings settings = batch_settings(recipe.data, recipe.vocabulary, recipe.training.batch_tokens,
                                                static_cast<uint64_t>(recipe.training.seed));
  if (own.shortlist > 0) make_shortlist(corpus, own, threads);
  print_counts(corpus.report["pairs"]);
  print_sides(corpus.report);
  const PaddingShares padding = padding_shares(corpus, settings);
  std::cout << fmt::format(
      "\npadded batches of {} tokens would be {:.1f} % padding if sorted by length, {:.1f} % if not;\n"
      "batches here are packed and have none\n",
      with_commas(settings.batch_tokens), 100 * padding.sorted, 100 * padding.unsorted);
  show_pairs(corpus, settings, own.show);
}

}  // namespace dragoman::internal
