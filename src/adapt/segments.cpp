#include "adapt/segments.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "adapt/split_text.h"
#include "base/checksum.h"
#include "base/line_writer.h"
#include "base/log.h"
#include "base/status_line.h"
#include "base/threads.h"
#include "data/cleaning.h"
#include "memory/memory.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// What a model gains is measured on the held-out part: on fewer sentences it would be chance.
constexpr int64_t fewest_segments = 100, most_held_out = 300;

// Of what a memory has, not of its files: these change when its log is folded, which another process may do meanwhile.
std::string memory_checksum(const std::string& folder) {
  Checksum checksum;
  TranslationMemory(folder, MemoryAccess::read).for_each([&](const MemorySegmentView& segment) {
    for (const std::string_view text : {segment.source, segment.target})
      for (const std::string_view part : {text, std::string_view("\n", 1)})
        checksum.add(std::as_bytes(std::span(part)));
  });
  return checksum.text();
}

// A segment of several lines becomes one.
std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return line;
}

// All of them, as two files that cleaning reads.
void collect_segments(const AdaptConfig& config, const CorpusSource& out) {
  LineWriter source(out.source), target(out.target);
  const auto take = [&](const MemorySegmentView& segment) {
    source.add(on_one_line(segment.source));
    target.add(on_one_line(segment.target));
  };
  for (const std::string& folder : config.memories)
    TranslationMemory(folder, MemoryAccess::read).for_each(take);
  const SegmentCounts counts = read_segments(config.segments, take);
  source.finish();
  target.finish();
  for (const auto& [count, why] : {std::pair(counts.empty, "with an empty side"),
                                   {counts.invalid, "not UTF-8, or without a translation"},
                                   {counts.other_language, "of other languages"}})
    if (count > 0) log_info("segments left out: {} {}", with_commas(count), why);
}

// Short messages are mostly placeholders and names, and a translation of "OK" is "OK": such are what a translator wants
// to be kept.
CleaningRules rules_for_segments() {
  CleaningRules rules;
  rules.no_words = false;
  rules.min_letters = 0;
  rules.max_ratio = 0;
  rules.copy_words = 0;
  rules.numbers = false;
  return rules;
}

void log_left_out(const CleaningResult& result) {
  for (size_t i = 1; i < fault_count; ++i)
    if (const auto fault = static_cast<Fault>(i); result.of(fault) > 0)
      log_info("segments left out: {} {}", with_commas(result.of(fault)), description_of(fault));
}

}  // namespace

ordered_json segments_inputs(const AdaptConfig& config) {
  ordered_json memories = ordered_json::array();
  for (const std::string& folder : config.memories) memories.push_back(memory_checksum(folder));
  const SegmentFiles& segments = config.segments;
  std::vector<std::string> files = segments.files;
  std::ranges::sort(files);  // which a user may name in any order
  ordered_json inputs = {
      {"files", file_checksums(files)}, {"memories", memories}, {"languages", {segments.from, segments.to}}};
  if (!segments.source.empty()) {
    inputs["source"] = file_checksum(segments.source);
    inputs["target"] = file_checksum(segments.target);
  }
  return inputs;
}

void write_segments(const AdaptConfig& config, Stage& stage) {
  const CorpusSource given = {stage.path("given.source"), stage.path("given.target"), TextFormat::text};
  collect_segments(config, given);
  CorpusReader reader({given}, false, 0);
  Preparation work = {.doing = "cleaning"};
  std::vector<TextPair> pairs;
  const CleaningResult result = clean(
      reader,
      {.rules = rules_for_segments(),
       .from = config.segments.from,
       .to = config.segments.to,
       .threads = config.threads > 0 ? static_cast<int>(config.threads) : available_threads()},
      [&](const CleanPair& pair) {
        pairs.push_back({std::string(pair.source), std::string(pair.target)});
      },
      work);
  log_left_out(result);
  const auto kept = std::ssize(pairs);
  if (kept < fewest_segments)
    throw TooFewSegments(
        "{} of the user's segments can be used, but adapting needs at least {}: add more of them", kept,
        fewest_segments);
  const HeldOut is_held_out(kept, std::clamp(kept / 10, fewest_segments / 5, most_held_out));
  const SplitCounts counts = write_split(pairs, is_held_out, split_text_in(stage.folder()));
  log_info("{} segments to learn, {} held out", with_commas(counts.learnt), with_commas(counts.held_out));
  for (const std::string& file : {given.source, given.target}) fs::remove(file);
  ordered_json report = to_json(result);
  report["learnt"] = counts.learnt;
  report["held_out"] = counts.held_out;
  stage.finish(std::move(report));
}

}  // namespace dragoman::internal
