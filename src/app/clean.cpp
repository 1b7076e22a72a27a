// dragoman clean: the pairs of a parallel text that are worth training on, and why the others are not.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/pair_output.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/quotes.h"
#include "base/signals.h"
#include "data/cleaning.h"
#include "dragoman/translator.h"
#include "serve/fasttext.h"
#include "student/pair_scorer.h"

namespace dragoman::internal {
namespace {

struct CleanOptions {
  std::vector<std::string> source, target, tsv;
  std::string out_source, out_target, report;
  int64_t show_dropped = 0;
  std::string from, to, detector, score_model;
  bool backward = false;
  MachineOptions machine;
  CleaningRules rules;
};

void declare(Options& options, CleanOptions& o) {
  auto own = options.section("", "Options");
  own.add("source", o.source, "source sentences, one per line; plain, gzip or Zstandard; - is standard input")
      .shows("FILE");
  own.add("target", o.target, "their translations, line by line").shows("FILE");
  own.add("tsv", o.tsv, "or files with both: source, tab, target").shows("FILE");
  own.add("out-source", o.out_source,
          "file for the sources that are kept; without it pairs go to standard output: source, tab, target")
      .shows("FILE");
  own.add("out-target", o.out_target, "file for their translations").shows("FILE");
  own.add("report", o.report, "file for the counts, and the pairs of --show-dropped, as JSON").shows("FILE");
  own.add("show-dropped", o.show_dropped, "show this many of the pairs that each rule leaves out",
          at_least(0).at_most(10'000));
  own.add("from", o.from, "source language, such as en, whose script and language are expected");
  own.add("to", o.to, "target language");
  own.add("detector", o.detector,
          "fastText's lid.176.ftz (tools/get_detector), with which languages are checked")
      .shows("FILE");
  own.add("score-model", o.score_model, "model that translates the sources, for --min-score").shows("DIR");
  own.add("backward", o.backward, "the score model translates the targets into the sources");
  declare_machine(own, o.machine);
  declare(own, o.rules, OptionSpelling::flags);
}

void check_clean_input(const CleanOptions& o) {
  if (o.source.empty() && o.tsv.empty())
    throw UsageError("clean needs --source FILE and --target FILE, or --tsv FILE: see dragoman clean --help");
  if (o.source.size() != o.target.size())
    throw UsageError("--source names {}, but --target {}: each file needs its counterpart",
                     counted(std::ssize(o.source), "file"), o.target.size());
  int64_t standard_input = 0;
  for (const auto* files : {&o.source, &o.target, &o.tsv}) standard_input += std::ranges::count(*files, "-");
  if (standard_input > 1) throw UsageError("standard input (-) can be only one of the files");
}

void check_are_different(const CleanOptions& o) {
  std::map<std::filesystem::path, const char*> options;  // by what they write
  for (const auto& [option, out] :
       {std::pair("--out-source", o.out_source), {"--out-target", o.out_target}, {"--report", o.report}}) {
    std::error_code none;
    const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(out, none), none);
    if (out.empty() || none) continue;
    const auto [known, is_new] = options.emplace(path, option);
    if (!is_new)
      throw UsageError("{} and {} name the same file, {}: give each its own", known->second, option, out);
  }
}

void check_clean_output(const CleanOptions& o) {
  if (o.out_source.empty() != o.out_target.empty())
    throw UsageError(
        "--out-source and --out-target belong together: give both, or neither for standard output");
  for (const std::string& out : {o.out_source, o.out_target, o.report}) {
    if (out.ends_with(".gz") || out.ends_with(".zst"))
      throw UsageError("{} cannot be written compressed: name a plain file, and compress it afterwards", out);
    for (const auto* files : {&o.source, &o.target, &o.tsv}) {
      for (const std::string& file : *files) {
        std::error_code none;
        if (!out.empty() && std::filesystem::equivalent(file, out, none))
          throw UsageError("{} is an input: the output needs another name", out);
      }
    }
  }
  check_are_different(o);
}

void check_cleaning(const CleanOptions& o, const Options& given) {
  check_clean_input(o);
  check_clean_output(o);
  if (!o.detector.empty() && o.from.empty() && o.to.empty())
    throw UsageError("--detector has no effect without --from or --to, the languages to expect");
  if (o.score_model.empty() != (o.rules.min_score == 0))
    throw UsageError("--score-model DIR and --min-score, such as -3, belong together");
  for (const char* key : {"backward", "device", "precision"})
    if (given.is_given(key) && o.score_model.empty())
      throw UsageError("--{} has no effect without --score-model DIR", key);
  if (o.rules.max_ratio > 0 && o.rules.max_ratio < 1)
    throw UsageError("--max-ratio is {}, but must be 0 or at least 1", o.rules.max_ratio);
}

void log_cleaning(const CleaningResult& result) {
  log_info("{} pairs read, {} kept, {} left out", with_commas(result.read), with_commas(result.kept()),
           with_commas(result.dropped()));
  for (size_t i = 1; i < fault_count; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (result.of(fault) > 0)
      log_info("left out: {} {}", with_commas(result.of(fault)), description_of(fault));
    for (const FaultyPair& pair : result.examples[i])
      log_info("  {}: {} | {}", with_commas(static_cast<int64_t>(pair.index) + 1), in_quotes(pair.source),
               in_quotes(pair.target));
  }
}

void log_what_is_off(const CleanOptions& o) {
  if (o.from.empty() && o.to.empty())
    log_info("languages are not checked: that needs --from, --to and --detector FILE");
  else if (o.detector.empty() && o.rules.min_language > 0)
    log_info(
        "languages are not checked, apart from their scripts: that needs --detector FILE, which "
        "tools/get_detector downloads");
}

}  // namespace

void clean(const Arguments& arguments) {
  CleanOptions o;
  Options options;
  if (!read_options(command_named("clean"), o, arguments, options)) return;
  check_cleaning(o, options);
  watch_signals();
  log_what_is_off(o);
  if (!o.report.empty()) check_writable(o.report);
  const auto identifier = o.detector.empty() ? nullptr : open_fasttext(o.detector);
  std::optional<dragoman::Translator> model;
  CleaningSettings settings = {.rules = o.rules,
                               .from = o.from,
                               .to = o.to,
                               .identifier = identifier.get(),
                               .threads = thread_count(o.machine),
                               .examples = o.show_dropped};
  if (!o.score_model.empty())
    settings.scorer = pair_scorer_of(model.emplace(o.score_model, settings_of({.machine = o.machine})),
                                     o.backward, o.from, o.to);
  DataConfig files;
  files.source = o.source;
  files.target = o.target;
  files.tsv = o.tsv;
  CorpusReader pairs(corpus_sources(files), false, 0);
  PairOutput output(o.out_source, o.out_target);
  Preparation work = {.doing = "cleaning"};
  const CleaningResult result = clean(
      pairs, settings, [&](const CleanPair& pair) { output.write(pair.source, pair.target); }, work);
  output.finish();
  log_cleaning(result);
  if (!o.report.empty()) write_file(o.report, {json_text(to_json(result), 1) + "\n"});
}

}  // namespace dragoman::internal
