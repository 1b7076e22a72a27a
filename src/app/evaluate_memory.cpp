#include "app/evaluate_memory.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <iostream>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/output.h"
#include "app/parallel_lines.h"
#include "app/scores.h"
#include "base/elapsed.h"
#include "base/error.h"
#include "base/scratch_folder.h"
#include "base/signals.h"
#include "base/status_line.h"
#include "report/numbers.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using nlohmann::ordered_json;

constexpr size_t parts_of_file = 10;

// The copy grows instead of the user's memory.
void copy_memory(const std::string& folder, const ScratchFolder& copy) {
  try {
    fs::copy(folder, copy.path(), fs::copy_options::recursive);
  } catch (const fs::filesystem_error& error) {
    throw Error("cannot copy {}: {}", folder, error.code().message());
  }
}

// Of the lines of a part, or of the file: BLEU, chrF and TER.
struct MeasuredLines {
  int64_t lines = 0, exact = 0, similar = 0;
  std::array<MetricSums, 3> plain = {}, with_memory = {};
  double plain_seconds = 0, memory_seconds = 0;
};

const std::array<std::shared_ptr<const Metric>, 3>& shown_metrics() {
  static const std::array<std::shared_ptr<const Metric>, 3> metrics = {
      metric_named("bleu"), metric_named("chrf"), metric_named("ter")};
  return metrics;
}

struct TestLines {
  std::vector<std::string> sources, references;
};

TestLines read_test_lines(const MemoryEvaluation& e) {
  ParallelLines lines({e.source, e.reference}, InvalidText::repair);
  TestLines test;
  while (lines.next()) {
    test.sources.emplace_back(lines.line(0));
    test.references.emplace_back(lines.line(1));
  }
  if (test.sources.empty()) throw Error("{} is empty: nothing to evaluate", e.source);
  return test;
}

class MemoryTrial {
 public:
  MemoryTrial(const MemoryEvaluation& evaluation, dragoman::Memory memory)
      : e_(evaluation),
        translator_(evaluation.translating.models, settings_of(evaluation.translating)),
        memory_(std::move(memory)) {}

  // In turns, so that both meet the machine as it is. With the memory first: one of other languages is refused at once.
  std::vector<MeasuredLines> measure(const TestLines& test) {
    std::vector<MeasuredLines> parts(std::min(parts_of_file, test.sources.size()));
    StatusLine status;
    for (size_t part = 0; part < parts.size(); ++part) {
      const size_t begin = part * test.sources.size() / parts.size(),
                   end = (part + 1) * test.sources.size() / parts.size();
      const size_t at_once = e_.growing ? 1 : end - begin;
      for (size_t first = begin; first < end; first += at_once) {
        if (stop_requested() != 0)
          throw Stopped(stop_requested(), "stopped before all lines were translated");
        measure(test, first, at_once, parts[part]);
        status.show("evaluating", static_cast<double>(first) / static_cast<double>(test.sources.size()));
      }
    }
    return parts;
  }

 private:
  std::vector<dragoman::Translation> translate(std::span<const std::string> sources, bool with_memory,
                                               double& seconds) {
    const Clock::time_point began = Clock::now();
    std::vector<std::future<dragoman::Translation>> futures;
    for (const std::string& source : sources)
      futures.push_back(translator_.submit({.text = source,
                                            .options = e_.request,
                                            .tokens = false,
                                            .memory = with_memory ? &memory_ : nullptr}));
    std::vector<dragoman::Translation> done;
    for (auto& future : futures) done.push_back(future.get());
    seconds += seconds_since(began);
    return done;
  }

  void measure(const TestLines& test, size_t first, size_t count, MeasuredLines& part) {
    const auto sources = std::span(test.sources).subspan(first, count);
    const auto with_memory = translate(sources, true, part.memory_seconds),
               plain = translate(sources, false, part.plain_seconds);
    for (size_t i = 0; i < count; ++i) {
      const std::string_view reference = test.references[first + i];
      for (size_t m = 0; m < shown_metrics().size(); ++m) {
        const Metric& metric = *shown_metrics()[m];
        add_to(part.plain[m], metric.statistics(plain[i].text(), std::span(&reference, 1)));
        add_to(part.with_memory[m], metric.statistics(with_memory[i].text(), std::span(&reference, 1)));
      }
      ++part.lines;
      part.exact += with_memory[i].memory;
      part.similar += !with_memory[i].memory && !with_memory[i].memory_segments.empty();
      if (e_.growing && !sources[i].empty() && !reference.empty())
        memory_.add({sources[i], std::string(reference)});
    }
  }

  const MemoryEvaluation& e_;
  dragoman::Translator translator_;
  dragoman::Memory memory_;
};

MeasuredLines total_of(const std::vector<MeasuredLines>& parts) {
  MeasuredLines all;
  for (const MeasuredLines& part : parts) {
    all.lines += part.lines;
    all.exact += part.exact;
    all.similar += part.similar;
    all.plain_seconds += part.plain_seconds;
    all.memory_seconds += part.memory_seconds;
    for (size_t m = 0; m < all.plain.size(); ++m) {
      add_to(all.plain[m], part.plain[m]);
      add_to(all.with_memory[m], part.with_memory[m]);
    }
  }
  return all;
}

double milliseconds_of_line(double seconds, const MeasuredLines& lines) {
  return 1000 * seconds / static_cast<double>(std::max<int64_t>(lines.lines, 1));
}

std::string row_of(const std::string& name, const MeasuredLines& lines) {
  std::string row = fmt::format("{:<14}{:>6}{:>9}", name, lines.exact, lines.similar);
  for (size_t m = 0; m < lines.plain.size(); ++m)
    row += fmt::format("{:>9.2f}{:>8.2f}", shown_metrics()[m]->score(lines.plain[m]),
                       shown_metrics()[m]->score(lines.with_memory[m]));
  return row + fmt::format("{:>9.1f}{:>8.1f}\n", milliseconds_of_line(lines.plain_seconds, lines),
                           milliseconds_of_line(lines.memory_seconds, lines));
}

std::string as_table(const std::vector<MeasuredLines>& parts) {
  std::string text = fmt::format("{:<14}{:>6}{:>9}", "lines", "exact", "similar");
  for (const auto& metric : shown_metrics()) text += fmt::format("{:>9}{:>8}", metric->name(), "+memory");
  text += fmt::format("{:>9}{:>8}\n", "ms", "+memory");
  int64_t first = 1;
  for (const MeasuredLines& part : parts) {
    text += row_of(fmt::format("{} to {}", first, first + part.lines - 1), part);
    first += part.lines;
  }
  return text + row_of("all", total_of(parts)) +
         "exact: as the memory has them; similar: translated with similar segments in view; ms: a line\n";
}

ordered_json as_json(const MeasuredLines& lines) {
  ordered_json object = {{"lines", lines.lines}, {"exact", lines.exact}, {"similar", lines.similar}};
  for (const auto& [name, sums, seconds] : {std::tuple("plain", &lines.plain, lines.plain_seconds),
                                            std::tuple("memory", &lines.with_memory, lines.memory_seconds)}) {
    ordered_json scores;
    for (size_t m = 0; m < sums->size(); ++m)
      scores[shown_metrics()[m]->name()] = as_printed(shown_metrics()[m]->score((*sums)[m]), 2);
    scores["milliseconds"] = as_printed(milliseconds_of_line(seconds, lines), 2);
    object[name] = std::move(scores);
  }
  return object;
}

}  // namespace

void declare(Section& own, MemoryEvaluation& e) {
  declare_models_and_batch(own, e.translating);
  own.add("reference", e.reference, "evaluate: how the lines of --source should be translated").shows("FILE");
  own.add("growing", e.growing,
          "evaluate: learn each reference after its line was translated, in a copy of the memory");
}

void evaluate_memory(const MemoryEvaluation& e) {
  if (e.translating.models.empty() || e.source.empty() || e.reference.empty())
    throw UsageError("memory evaluate needs --model DIR, --source FILE and --reference FILE");
  const TestLines test = read_test_lines(e);
  std::optional<ScratchFolder> copy;
  if (e.growing) copy_memory(e.translating.memory, copy.emplace("memory"));
  const auto access = e.growing ? dragoman::Memory::Access::add : dragoman::Memory::Access::read;
  MemoryTrial trial(e, dragoman::Memory(copy ? copy->path() : e.translating.memory, access));
  const std::vector<MeasuredLines> parts = trial.measure(test);
  if (e.format == OutputFormat::text) {
    std::cout << as_table(parts);
  } else {
    ordered_json tenths = ordered_json::array();
    for (const MeasuredLines& part : parts) tenths.push_back(as_json(part));
    std::cout << ordered_json{{"all", as_json(total_of(parts))}, {"tenths", std::move(tenths)}}.dump()
              << "\n";
  }
  flush_output();
}

}  // namespace dragoman::internal
