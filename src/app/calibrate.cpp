// dragoman calibrate: learns how far a model's translations can be trusted, from some that have references.
#include <iostream>

#include <fmt/format.h>

#include "api/options.h"
#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/parallel_lines.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/log.h"
#include "base/quotes.h"
#include "base/signals.h"
#include "confidence/calibration.h"
#include "dragoman/confidence.h"

namespace dragoman::internal {
namespace {

struct CalibrateOptions {
  std::string model, source;
  std::vector<std::string> references;
  MachineOptions machine;
  SearchOptions search;
};

void declare(Options& options, CalibrateOptions& o) {
  auto own = options.section("", "Options");
  declare_model(own, o.model, o.machine);
  declare_source(own, o.source);
  declare_references(own, o.references);
}

std::vector<dragoman::TextPair> read_pairs(const CalibrateOptions& o) {
  ParallelLines lines({o.source, o.references[0]}, InvalidText::repair);
  std::vector<dragoman::TextPair> pairs;
  while (lines.next()) pairs.push_back({std::string(lines.line(0)), std::string(lines.line(1))});
  return pairs;
}

std::string summary_of(const dragoman::CalibrationResult& r) {
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  std::string text = fmt::format("{}, {}: {} of the words are right, {} of the lines need few changes\n\n",
                                 counted(static_cast<int64_t>(r.texts), "line"),
                                 counted(static_cast<int64_t>(r.words), "word"), percent(r.right_words),
                                 percent(r.good_texts));
  text += fmt::format("{:<38} {:>8} {:>8}\n", "", "before", "after");
  text += fmt::format("{:<38} {:>8} {:>8}\n", "error of words' confidence", percent(r.word_error_before),
                      percent(r.word_error_after));
  text += fmt::format("{:<38} {:>8} {:>8}\n", "error of lines' confidence", percent(r.text_error_before),
                      percent(r.text_error_after));
  text += fmt::format("{:<38} {:>8.3f} {:>8.3f}\n", "rank correlation with the lines' chrF",
                      r.correlation_before, r.correlation_after);
  return text;
}

}  // namespace

void calibrate(const Arguments& arguments) {
  CalibrateOptions o;
  Options options, search;
  declare(options, o);
  declare_search(search, o.search);
  CommandLine line("calibrate", summary_of("calibrate"));
  line.add_options(options);
  add_search(line, search);
  if (!line.read(arguments)) return;
  if (o.model.empty() || o.source.empty() || o.references.size() != 1)
    throw UsageError(
        "calibrate needs --model DIR, --source FILE and one --reference FILE: see dragoman calibrate --help");
  checked_search(o.model, search);
  const std::vector<dragoman::TextPair> pairs = read_pairs(o);
  const dragoman::CalibrationResult result = dragoman::calibrate(
      o.model, pairs, {.translator = settings_of({.machine = o.machine}), .options = given_options(search)});
  std::cout << summary_of(result);
  flush_output();
  log_info("wrote {}/{}", o.model, calibration_file);
}

}  // namespace dragoman::internal
