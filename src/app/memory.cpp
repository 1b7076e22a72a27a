// dragoman memory: translation memories, built, searched and exported.
#include "memory/memory.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/evaluate_memory.h"
#include "app/output.h"
#include "app/shared_options.h"
#include "base/error.h"
#include "base/json.h"
#include "base/lines.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/new_file.h"
#include "base/quotes.h"
#include "base/signals.h"
#include "base/status_line.h"
#include "memory/builder.h"
#include "memory/read_segments.h"
#include "memory/tmx_writer.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr size_t segments_at_once = 1000;

struct MemoryOptions {
  std::string action;
  std::vector<std::string> words;
  std::string memory, out, text;
  SegmentFiles files;
  MemoryQuery query;
  OutputFormat format = OutputFormat::text;
  MemoryEvaluation evaluation;
};

void declare(Options& options, MemoryOptions& o) {
  auto own = options.section("", "Options");
  own.add("memory", o.memory, "all but build: the memory").shows("DIR");
  own.add("out", o.out, "build: folder of the new memory; export: the file, by default standard output")
      .shows("PATH");
  own.add("from", o.files.from, "language of the sources, such as en");
  own.add("to", o.files.to, "language of the translations, such as fr");
  own.add("source", o.files.source, "build, add, evaluate: a file of sources, one per line").shows("FILE");
  own.add("target", o.files.target, "and their translations, line by line").shows("FILE");
  own.add("origin", o.files.origin,
          "what is recorded as the segments' origin; by default the name of their file");
  own.add("text", o.text, "look: text to look for; without it, lines of standard input");
  own.add("at-most", o.query.at_most,
          "look: so many segments for each text; evaluate: where given, as translate --memory-segments",
          at_least(1).at_most(1000));
  own.add("at-least", o.query.at_least,
          "look: with this similarity, the share of words that need no change; evaluate: where given, as "
          "translate --memory-at-least",
          at_least(0).at_most(1));
  own.add("match-case", o.query.match_case, "a segment in other letters is another one");
  own.add("match-numbers", o.query.match_numbers, "a segment with other numbers is another one");
  declare_format(own, o.format, "look, evaluate: text for people, or JSON objects");
  declare(own, o.evaluation);
}

void log_counts(const SegmentCounts& counts) {
  log_info("{} read, {} taken", counted(counts.read, "segment"), with_commas(counts.taken));
  const std::pair<int64_t, const char*> left_out[] = {{counts.empty, "with an empty side"},
                                                      {counts.invalid, "not UTF-8, or without a translation"},
                                                      {counts.other_language, "of other languages"}};
  for (const auto& [count, why] : left_out)
    if (count > 0) log_info("left out: {} {}", with_commas(count), why);
}

void check_files(const MemoryOptions& o) {
  if (o.files.files.empty() && o.files.source.empty())
    throw UsageError(
        "memory {} needs files with segments: TMX, XLIFF, PO or TSV, or --source FILE --target FILE",
        o.action);
  if (o.files.source.empty() != o.files.target.empty())
    throw UsageError("--source FILE and --target FILE belong together");
}

void build_memory(const Options&, MemoryOptions& o) {
  if (o.out.empty()) throw UsageError("memory build needs --out DIR, the folder of the new memory");
  if (o.files.from.empty() || o.files.to.empty())
    throw UsageError("memory build needs the languages, such as --from en --to fr");
  check_files(o);
  MemoryBuilder builder(o.out, o.files.from, o.files.to);
  const SegmentCounts counts =
      read_segments(o.files, [&](const MemorySegmentView& segment) { builder.add(segment); });
  if (counts.taken == 0) throw Error("the files have no segment with a translation: there is no new memory");
  builder.finish();
  log_counts(counts);
}

// A memory is of two languages.
void check_language(const char* option, const std::string& given, const std::string& own) {
  if (!given.empty() && given != own)
    throw UsageError("{} is {}, but the memory has {}: leave it out, or build another memory", option, given,
                     own);
}

void add_to_memory(const Options&, MemoryOptions& o) {
  TranslationMemory memory(o.memory, MemoryAccess::add);
  check_files(o);
  check_language("--from", o.files.from, memory.from());
  check_language("--to", o.files.to, memory.to());
  o.files.from = memory.from();
  o.files.to = memory.to();
  std::vector<MemorySegment> waiting;
  const auto add_waiting = [&] { memory.add(std::exchange(waiting, {})); };
  const SegmentCounts counts = read_segments(o.files, [&](const MemorySegmentView& segment) {
    waiting.push_back(segment.copy());
    if (waiting.size() == segments_at_once) add_waiting();
  });
  add_waiting();
  memory.fold();
  log_counts(counts);
}

void print_matches(const std::string& text, const std::vector<MemoryMatch>& matches, OutputFormat format) {
  if (format == OutputFormat::json) {
    auto list = nlohmann::ordered_json::array();
    for (const MemoryMatch& match : matches)
      list.push_back({{"source", match.segment.source},
                      {"target", match.segment.target},
                      {"origin", match.segment.origin},
                      {"similarity", match.similarity},
                      {"exact", match.exact}});
    const nlohmann::ordered_json found = {{"text", text}, {"segments", list}};
    std::cout << json_text(found) << "\n";
    return;
  }
  if (matches.empty()) std::cout << "nothing similar to " << in_quotes(text) << "\n";
  for (const MemoryMatch& match : matches)
    std::cout << fmt::format("{:3.0f} %  {}\n       {}\n", 100 * match.similarity, match.segment.source,
                             match.segment.target);
}

void look_in_memory(const Options& given, MemoryOptions& o) {
  const TranslationMemory memory(o.memory, MemoryAccess::read);
  const auto look = [&](const std::string& text) {
    print_matches(text, memory.look_up(text, o.query), o.format);
    flush_output();
  };
  if (given.is_given("text")) return look(o.text);
  LineReader lines("-");
  for (std::string_view line; lines.next(line);) look(repaired(line));
}

void export_memory(const Options&, MemoryOptions& o) {
  const TranslationMemory memory(o.memory, MemoryAccess::read);
  std::optional<NewFile> file;
  if (!o.out.empty() && !is_standard_output(o.out)) file.emplace(o.out);
  TmxWriter tmx(memory.from(), memory.to(), [&](std::string_view bytes) {
    if (file) return file->write(bytes);
    std::cout << bytes;
    if (!std::cout) flush_output();
  });
  memory.for_each([&](const MemorySegmentView& segment) {
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped before all was exported");
    tmx.add(segment);
  });
  tmx.finish();
  if (file) return file->finish();
  flush_output();
}

// Options that are not given are the model's own.
void evaluate(const Options& given, MemoryOptions& o) {
  o.evaluation.translating.memory = o.memory;
  o.evaluation.source = o.files.source;
  o.evaluation.format = o.format;
  dragoman::Options& request = o.evaluation.request;
  const auto add = [&](const char* key, const char* name, const auto& value) {
    if (given.is_given(key)) request.emplace_back(name, value);
  };
  add("from", "from", o.files.from);
  add("to", "to", o.files.to);
  add("at-most", "memory-segments", o.query.at_most);
  add("at-least", "memory-at-least", o.query.at_least);
  add("match-case", "match-case", o.query.match_case);
  add("match-numbers", "match-numbers", o.query.match_numbers);
  evaluate_memory(o.evaluation);
}

void verify_memory(const Options&, MemoryOptions& o) {
  const TranslationMemory memory(o.memory, MemoryAccess::read);
  memory.verify();
  int64_t count = 0;
  memory.for_each([&](const MemorySegmentView&) {
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped before all was verified");
    ++count;
  });
  std::cout << fmt::format("{}: {} from {} to {}, undamaged\n", o.memory, counted(count, "segment"),
                           memory.from(), memory.to());
}

struct MemoryAction {
  std::string name;
  std::vector<std::string> options;  // that it takes
  void (*run)(const Options& given, MemoryOptions& o);
};

std::vector<MemoryAction> memory_actions() {
  std::vector<std::string> of_evaluate = {
      "memory", "from", "to", "source", "at-most", "at-least", "match-case", "match-numbers", "format"};
  MemoryEvaluation evaluation;
  Options declared;
  auto own = declared.section("", "");
  declare(own, evaluation);
  for (const Option& option : declared.all()) of_evaluate.push_back(option.key());
  return {{"build", {"out", "from", "to", "source", "target", "origin"}, build_memory},
          {"add", {"memory", "from", "to", "source", "target", "origin"}, add_to_memory},
          {"look",
           {"memory", "text", "at-most", "at-least", "match-case", "match-numbers", "format"},
           look_in_memory},
          {"export", {"memory", "out"}, export_memory},
          {"evaluate", of_evaluate, evaluate},
          {"verify", {"memory"}, verify_memory}};
}

const MemoryAction& action_named(const std::string& name, const std::vector<MemoryAction>& actions) {
  const auto found = std::ranges::find(actions, name, &MemoryAction::name);
  if (found != actions.end()) return *found;
  std::vector<std::string> names;
  for (const MemoryAction& action : actions) names.push_back(action.name);
  throw UsageError("memory: {} is not {} or {}{}", in_quotes(name),
                   fmt::join(names.begin(), names.end() - 1, ", "), names.back(), suggestion(name, names));
}

void check_arguments(const MemoryAction& action, const Options& given, const MemoryOptions& o) {
  const auto takes = [&](const std::string& key) { return std::ranges::count(action.options, key) > 0; };
  const bool takes_files = takes("origin");
  if (!takes_files && !o.files.files.empty())
    throw UsageError("memory {} takes no files, but was given {}: {}", action.name,
                     in_quotes(o.files.files[0]),
                     takes("text") ? "--text is what to look for, --memory where" : "--out names the output");
  for (const Option& option : given.all())
    if (given.is_given(option.key()) && !takes(option.key()))
      throw UsageError("--{} has no effect on memory {}: leave it out", option.key(), action.name);
  if (takes("memory") && o.memory.empty()) throw UsageError("memory {} needs --memory DIR", action.name);
}

}  // namespace

void memory(const Arguments& arguments) {
  MemoryOptions o;
  Options options;
  declare(options, o);
  CommandLine line("memory", summary_of("memory"));
  line.add_argument("ACTION", o.action, "build, add, look, export, evaluate or verify");
  line.add_arguments(
      "FILE", o.files.files,
      "build, add: segments with their translations: TMX, XLIFF, PO, TSV (source, tab, target), or the "
      "server's suggestions (.jsonl)",
      false);
  line.add_options(options);
  if (!line.read(arguments)) return;
  watch_signals();
  const std::vector<MemoryAction> actions = memory_actions();
  const MemoryAction& action = action_named(o.action, actions);
  check_arguments(action, options, o);
  action.run(options, o);
}

}  // namespace dragoman::internal
