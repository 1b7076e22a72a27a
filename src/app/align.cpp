// dragoman align: which words of two files translate each other, line by line, as the aligner learns it from them or as
// a model attends to them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/parallel_lines.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/json.h"
#include "base/log.h"
#include "base/quotes.h"
#include "base/signals.h"
#include "base/status_line.h"
#include "base/threads.h"
#include "data/aligned_text.h"
#include "data/corpus.h"
#include "dragoman/translator.h"

namespace dragoman::internal {
namespace {

constexpr size_t lines_at_once = 4096, pairs_of_model_batch = 256;

struct AlignOptions {
  std::string source, target;
  std::vector<std::string> tsv;
  std::string model, from, to;
  MachineOptions machine;
  int64_t alignment_layer = 0;
  Symmetrization symmetrize = Symmetrization::grow_diag_final_and;
  bool tokens = false;
  OutputFormat format = OutputFormat::text;
};

void declare(Options& options, AlignOptions& o) {
  auto own = options.section("", "Options");
  declare_source(own, o.source);
  own.add("target", o.target, "its translation, line by line").shows("FILE");
  own.add("tsv", o.tsv, "or files with both: source, tab, target; - is standard input").shows("FILE");
  own.add("symmetrize", o.symmetrize,
          "how the links of both directions are combined; forward: one source word for each target word, "
          "backward: the reverse",
          {{"grow-diag-final-and", Symmetrization::grow_diag_final_and},
           {"grow-diag", Symmetrization::grow_diag},
           {"intersection", Symmetrization::intersection},
           {"union", Symmetrization::unite},
           {"forward", Symmetrization::forward},
           {"backward", Symmetrization::backward}});
  own.add("tokens", o.tokens,
          "the files are tokenized: words end at white space alone; otherwise punctuation marks are words of "
          "their own");
  declare_format(
      own, o.format,
      "text: pairs SOURCE-TARGET of word indices, from 0; json: an object per line, with the words");
  own.add("model", o.model,
          "model that aligns instead, by its attention, without learning anything; words end at white space")
      .shows("DIR");
  declare_alignment_layer(own, o.alignment_layer);
  declare_languages(own, o.from, o.to);
  declare_machine(own, o.machine);
}

void check_align_options(const AlignOptions& o, const Options& given) {
  const bool has_files = !o.source.empty() && !o.target.empty();
  if (has_files == !o.tsv.empty() || o.source.empty() != o.target.empty())
    throw UsageError(
        "align needs either --source FILE and --target FILE, or --tsv FILE: see dragoman align --help");
  if (std::ranges::count(o.tsv, "-") > 1) throw UsageError("standard input (-) can be only one of the files");
  const AlignOptions other;
  const bool has_model = !o.model.empty();
  for (const auto& [is_given, option] :
       {std::pair(o.symmetrize != other.symmetrize, "--symmetrize"), std::pair(o.tokens, "--tokens"),
        std::pair(o.format != other.format, "--format json")})
    if (is_given && has_model) throw UsageError("{} has no effect with --model: leave it out", option);
  for (const auto& [is_given, option] :
       {std::pair(o.alignment_layer > 0, "--alignment-layer"), std::pair(!o.from.empty(), "--from"),
        std::pair(!o.to.empty(), "--to"), std::pair(given.is_given("device"), "--device"),
        std::pair(given.is_given("precision"), "--precision")})
    if (is_given && !has_model) throw UsageError("{} has no effect without --model DIR", option);
}

using TakePair = std::function<void(std::string_view source, std::string_view target)>;

// A pair that is invalid counts, so that links and pairs correspond line by line.
void read_columns(const std::vector<std::string>& paths, const TakePair& take) {
  std::vector<CorpusSource> sources;
  for (const std::string& path : paths) sources.push_back({path, ""});
  CorpusReader reader(std::move(sources), false, 0);
  int64_t invalid = 0;
  for (RawPair pair; reader.next(pair);) {
    invalid += pair.invalid;
    take(pair.source, pair.target);
  }
  if (invalid > 0)
    log_warning("{} got no links: not valid UTF-8, or without a tab between two texts",
                counted(invalid, "line"));
}

void read_all_pairs(const AlignOptions& o, const TakePair& take) {
  if (!o.tsv.empty()) return read_columns(o.tsv, take);
  ParallelLines lines({o.source, o.target}, InvalidText::repair);
  while (lines.next()) take(lines.line(0), lines.line(1));
}

AlignedText read_lines(const AlignOptions& o) {
  AlignedText text;
  read_all_pairs(o, [&](std::string_view source, std::string_view target) {
    text.add(source, target, o.tokens ? WordsOfLine::as_they_are : WordsOfLine::tokenized);
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped while reading");
  });
  return text;
}

std::string line_of(const AlignedText& text, size_t line, const std::vector<Link>& links,
                    OutputFormat format) {
  if (format == OutputFormat::json) {
    auto pairs = nlohmann::json::array();
    for (const Link link : links) pairs.push_back({link.source, link.target});
    const nlohmann::json object = {
        {"source", text.source.words(line)}, {"target", text.target.words(line)}, {"links", pairs}};
    return json_text(object) + "\n";
  }
  std::string pairs;
  for (const Link link : links)
    pairs += fmt::format("{}{}-{}", pairs.empty() ? "" : " ", link.source, link.target);
  return pairs + "\n";
}

void print_links(const AlignedText& text, const AlignmentModel& model, const AlignOptions& o,
                 ThreadPool& threads) {
  const PairsToAlign pairs = text.pairs();
  for (size_t first = 0; first < pairs.count; first += lines_at_once) {
    std::vector<std::string> lines(std::min(lines_at_once, pairs.count - first));
    threads.for_each(lines.size(), [&](size_t i) {
      std::vector<int32_t> source, target;
      pairs.read(first + i, source, target);
      lines[i] = line_of(text, first + i, model.links(source, target, o.symmetrize), o.format);
    });
    for (const std::string& line : lines) std::cout << line;
    flush_output();
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped while printing links");
  }
}

void warn_of_long_lines(const AlignedText& text) {
  int64_t long_lines = 0;
  for (size_t i = 0; i < text.source.size(); ++i) long_lines += text.is_too_long(i);
  if (long_lines > 0)
    log_warning("{} with a side of more than {} words got no links", counted(long_lines, "pair"),
                max_aligned_length);
}

void learn_and_print(const AlignOptions& o) {
  const AlignedText text = read_lines(o);
  const int threads = thread_count(o.machine);
  const auto begin = std::chrono::steady_clock::now();
  const AlignmentModel model = learn_alignment(text.pairs(), {.threads = threads});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const auto all = static_cast<int64_t>(text.source.size()),
             learned = static_cast<int64_t>(model.sampled_pairs());
  log_info("learned from {}{} in {:.1f} s", learned < all ? with_commas(learned) + " of " : "",
           counted(all, "pair"), seconds.count());
  ThreadPool pool(threads);
  print_links(text, model, o, pool);
  warn_of_long_lines(text);
}

// --- By a model -------------------------------------------------------------------------------------

class ModelAligner {
 public:
  explicit ModelAligner(const AlignOptions& o)
      : translator_(o.model, settings_of({.machine = o.machine})),
        settings_{.alignment = true, .alignment_layer = o.alignment_layer, .from = o.from, .to = o.to} {
    if (translator_.info().language_model)
      throw UsageError("align: {} is a language model, which has no words to align", o.model);
  }

  void add(std::string_view source, std::string_view target) {
    pairs_.push_back({std::string(source), std::string(target)});
    if (pairs_.size() == pairs_of_model_batch) print();
  }

  void finish() {
    print();
    if (too_long_ > 0)
      log_warning("{} with a side that is too long for the model got no links", counted(too_long_, "pair"));
  }

 private:
  void print() {
    for (const Score& score : translator_.score(pairs_, settings_)) {
      too_long_ += std::isnan(score.total);
      std::cout << pharaoh_format(score.alignment) << "\n";
    }
    pairs_.clear();
    flush_output();
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped while printing links");
  }

  dragoman::Translator translator_;
  const ScoreSettings settings_;
  std::vector<dragoman::TextPair> pairs_;
  int64_t too_long_ = 0;
};

void print_by_model(const AlignOptions& o) {
  ModelAligner aligner(o);
  read_all_pairs(o, [&](std::string_view source, std::string_view target) { aligner.add(source, target); });
  aligner.finish();
}

}  // namespace

void align(const Arguments& arguments) {
  AlignOptions o;
  Options options;
  if (!read_options(command_named("align"), o, arguments, options)) return;
  check_align_options(o, options);
  watch_signals();
  o.model.empty() ? learn_and_print(o) : print_by_model(o);
}

}  // namespace dragoman::internal
