// dragoman align: which words of two files translate each other, line by line.
#include <algorithm>
#include <chrono>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/parallel_lines.h"
#include "app/shared_options.h"
#include "base/log.h"
#include "base/quotes.h"
#include "base/signals.h"
#include "base/threads.h"
#include "data/aligned_text.h"

namespace dragoman::internal {
namespace {

constexpr size_t lines_at_once = 4096;

struct AlignOptions {
  std::string source, target;
  Symmetrization symmetrize = Symmetrization::grow_diag_final_and;
  bool tokens = false;
  OutputFormat format = OutputFormat::text;
  int64_t threads = 0;
};

void declare(Options& options, AlignOptions& o) {
  auto own = options.section("", "Options");
  declare_source(own, o.source);
  own.add("target", o.target, "its translation, line by line").shows("FILE");
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
  own.add("threads", o.threads, "threads; 0: all processors", at_least(0).at_most(1024));
}

AlignedText read_lines(const AlignOptions& o) {
  AlignedText text;
  ParallelLines lines({o.source, o.target}, InvalidText::repair);
  while (lines.next()) {
    text.add(lines.line(0), lines.line(1), o.tokens ? WordsOfLine::as_they_are : WordsOfLine::tokenized);
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped while reading");
  }
  return text;
}

std::string line_of(const AlignedText& text, size_t line, const std::vector<Link>& links,
                    OutputFormat format) {
  if (format == OutputFormat::json) {
    auto pairs = nlohmann::json::array();
    for (const Link link : links) pairs.push_back({link.source, link.target});
    const nlohmann::json object = {
        {"source", text.source.words(line)}, {"target", text.target.words(line)}, {"links", pairs}};
    return object.dump() + "\n";
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
    for_each_on(threads, lines.size(), [&](size_t i) {
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

}  // namespace

void align(const Arguments& arguments) {
  AlignOptions o;
  if (!read_options(command_named("align"), o, arguments)) return;
  if (o.source.empty() || o.target.empty())
    throw UsageError("align needs --source FILE and --target FILE: see dragoman align --help");
  watch_signals();
  const AlignedText text = read_lines(o);
  const int threads = o.threads > 0 ? static_cast<int>(o.threads) : available_threads();
  const auto begin = std::chrono::steady_clock::now();
  const AlignmentModel model = learn_alignment(text.pairs(), {.threads = threads});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  log_info("learned from {} in {:.1f} s", counted(static_cast<int64_t>(text.source.size()), "pair"),
           seconds.count());
  ThreadPool pool(threads);
  print_links(text, model, o, pool);
  warn_of_long_lines(text);
}

}  // namespace dragoman::internal
