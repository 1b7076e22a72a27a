#include "memory/read_segments.h"

#include <filesystem>

#include "base/ascii.h"
#include "base/error.h"
#include "base/json.h"
#include "base/lines.h"
#include "base/signals.h"
#include "data/parallel_text.h"
#include "document/bilingual.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

using TakeSegment = std::function<void(const MemorySegmentView& segment)>;

class SegmentReader {
 public:
  SegmentReader(const SegmentFiles& files, const TakeSegment& take) : files_(files), take_(take) {}

  SegmentCounts read() {
    for (const std::string& path : files_.files) read_one(path);
    if (!files_.source.empty()) read_pair();
    return counts_;
  }

 private:
  void read_one(const std::string& path) {
    name(path);
    const std::string ending = uncompressed_name(path).extension().string();
    if (is_bilingual_file(path))
      read_bilingual(path, {.name = path, .from = files_.from, .to = files_.to},
                     [&](const BilingualText& text) { add(text.source, text.target, text.changed); });
    else if (same_ignoring_case(ending, ".tsv"))
      read_lines(path, [&](std::string_view line) { add_columns(line); });
    else if (same_ignoring_case(ending, ".jsonl"))
      read_lines(path, [&](std::string_view line) { add_suggestion(line); });
    else
      throw UsageError(
          "{}: the name must end in .tmx, .xlf, .xliff, .po, .tsv or .jsonl (and then .gz or .zst); two "
          "files that correspond line by line are --source FILE --target FILE",
          path);
  }

  void read_pair() {
    name(files_.target);
    ParallelText lines({files_.source, files_.target}, TextFormat::automatic);
    for (std::string_view texts[2]; lines.next(texts);) add(texts[0], texts[1], 0);
  }

  template <class F>
  void read_lines(const std::string& path, F take) {
    LineReader lines(path);
    for (std::string_view line; lines.next(line);) take(line);
  }

  void add_columns(std::string_view line) {
    const size_t tab = line.find('\t');
    if (tab == line.npos) return count_invalid();
    const std::string_view rest = line.substr(tab + 1);
    add(line.substr(0, tab), rest.substr(0, rest.find('\t')), 0);
  }

  void add_suggestion(std::string_view line) {
    try {
      const nlohmann::json json = parse_json(line);
      const std::string from = json.value("source", ""), to = json.value("target", "");
      const auto is_other = [](const std::string& wanted, const std::string& found) {
        return !wanted.empty() && !found.empty() && !same_language(wanted, found);
      };
      if (is_other(files_.from, from) || is_other(files_.to, to)) {
        ++counts_.read, ++counts_.other_language;
        return;
      }
      add(json.at("q").get<std::string>(), json.at("s").get<std::string>(), 0);
    } catch (const nlohmann::json::exception&) {
      count_invalid();
    }
  }

  void add(std::string_view source, std::string_view target, int64_t changed) {
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped while reading segments");
    if (!is_text(source) || !is_text(target)) return count_invalid();
    ++counts_.read;
    source = trimmed(source).of(source);
    target = trimmed(target).of(target);
    if (source.empty() || target.empty()) {
      ++counts_.empty;
      return;
    }
    ++counts_.taken;
    take_({source, target, origin_, changed});
  }

  void count_invalid() { ++counts_.read, ++counts_.invalid; }

  void name(const std::string& path) {
    origin_ = files_.origin.empty() ? uncompressed_name(path).filename().string() : files_.origin;
  }

  const SegmentFiles& files_;
  const TakeSegment& take_;
  std::string origin_;  // of the file that is being read
  SegmentCounts counts_;
};

}  // namespace

SegmentCounts read_segments(const SegmentFiles& files, const TakeSegment& take) {
  return SegmentReader(files, take).read();
}

}  // namespace dragoman::internal
