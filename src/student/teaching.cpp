#include "student/teaching.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <future>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/elapsed.h"
#include "base/error.h"
#include "base/files.h"
#include "base/line_writer.h"
#include "base/lines.h"
#include "base/status_line.h"
#include "metrics/choosing.h"
#include "student/waiting.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

std::string part_path(const std::string& out, int64_t part) {
  return fmt::format("{}.part-{:06}", out, part);
}

// The lines of a part, read again by every run: those of finished parts are passed over.
class PartReader {
 public:
  PartReader(const TaughtText& text, int64_t lines) : lines_(lines), sources_(text.source) {
    if (!text.reference.empty()) references_.emplace(text.reference);
  }

  bool next() {
    sources.clear();
    references.clear();
    std::string_view line;
    while (std::ssize(sources) < lines_ && sources_.next(line)) {
      sources.emplace_back(line);
      if (!references_) continue;
      if (!references_->next(line))
        throw Error("{} has fewer lines than {}", references_->path(), sources_.path());
      references.emplace_back(line);
    }
    return !sources.empty();
  }

  std::vector<std::string> sources, references;

 private:
  const int64_t lines_;
  LineReader sources_;
  std::optional<LineReader> references_;
};

bool is_good(const dragoman::Translation& translation) {
  return !translation.cut && !translation.repeats && !translation.unlikely;
}

// A part has all translations of a source one after another; each file gets one of them. The first file is the last to
// be finished: once it is there, all are.
void join_parts(const std::vector<std::string>& out, int64_t parts) {
  std::deque<LineWriter> files(out.begin(), out.end());
  for (int64_t part = 0; part < parts; ++part) {
    LineReader lines(part_path(out.front(), part));
    size_t file = 0;
    for (std::string_view line; lines.next(line); file = (file + 1) % files.size()) files[file].add(line);
  }
  for (auto file = files.rbegin(); file != files.rend(); ++file) file->finish();
}

void remove_parts(const std::string& out) {
  for (const std::string& path : entries_of(fs::path(out).parent_path().string()))
    if (path.starts_with(out + ".part-")) fs::remove(path);
}

int64_t empty_lines(const std::string& path) {
  LineReader lines(path);
  int64_t count = 0;
  for (std::string_view line; lines.next(line);) count += line.empty();
  return count;
}

class Teacher {
 public:
  Teacher(dragoman::Translator& translator, dragoman::Options search, const TaughtText& text, int64_t lines)
      : translator_(translator),
        search_(std::move(search)),
        kept_(text.out.size()),
        client_(dragoman::Translator::new_client()),
        doing_(text.doing),
        if_stopped_(fmt::format("stopped while {}; the same command goes on", text.doing)),
        lines_(lines) {}

  // The lines of a source are its translations, or empty.
  std::string translate(const PartReader& part) {
    std::vector<std::future<dragoman::Translation>> translations;
    for (const std::string& source : part.sources)
      translations.push_back(
          translator_.submit({.text = source, .options = search_, .tokens = false, .client = client_}));
    std::string text;
    for (size_t i = 0; i < translations.size(); ++i) {
      const dragoman::Translation translation = wait_for(translations[i], if_stopped_);
      std::vector<std::string> taught(kept_);
      if (is_good(translation))
        taught = taught_candidates(translation.hypotheses,
                                   part.references.empty() ? nullptr : &part.references[i], kept_);
      for (const std::string& line : taught) text += line + '\n';
      ++translated_;
      show();
    }
    return text;
  }

  // Done by an earlier run, or by another process: they say nothing about this one's speed.
  void pass_over(int64_t lines) {
    passed_over_ += lines;
    show();
  }

 private:
  void show() {
    status_.show(doing_, static_cast<double>(translated_ + passed_over_) / static_cast<double>(lines_),
                 static_cast<double>(translated_), "lines");
  }

  dragoman::Translator& translator_;
  const dragoman::Options search_;
  const size_t kept_;
  const uint64_t client_;
  const char* const doing_;
  const std::string if_stopped_;
  const int64_t lines_;
  int64_t translated_ = 0, passed_over_ = 0;
  StatusLine status_;
};

// This process's share, every n-th part; the number of all parts.
int64_t translate_in_parts(Teacher& teacher, PartReader& part, const std::string& out,
                           const Processes& processes) {
  int64_t parts = 0;
  for (; part.next(); ++parts) {
    const std::string path = part_path(out, parts);
    const bool is_own = parts % processes.count() == processes.number();
    if (!is_own || fs::exists(path)) {
      teacher.pass_over(std::ssize(part.sources));
    } else {
      write_file(path, {teacher.translate(part)});
    }
  }
  return parts;
}

}  // namespace

std::vector<std::string> taught_candidates(const std::vector<dragoman::Hypothesis>& candidates,
                                           const std::string* reference, size_t count) {
  std::vector<std::string> texts;
  for (const dragoman::Hypothesis& candidate : candidates)
    if (!candidate.text.empty()) texts.push_back(candidate.text);
  if (texts.empty()) texts.emplace_back();
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (reference != nullptr) order = by_nearness(texts, *reference);
  std::vector<std::string> taught;
  for (size_t i = 0; i < count; ++i) taught.push_back(texts[order[i % order.size()]]);
  return taught;
}

nlohmann::ordered_json to_json(const TaughtLines& lines) {
  return {{"lines", lines.lines}, {"left_out", lines.left_out}, {"seconds", lines.seconds}};
}

int64_t count_lines(const std::string& path) {
  LineReader lines(path);
  int64_t count = 0;
  for (std::string_view line; lines.next(line);) ++count;
  return count;
}

TaughtLines teach(dragoman::Translator& translator, dragoman::Options search, int64_t candidates,
                  const TaughtText& text, int64_t lines_of_part, Processes& processes) {
  const auto begin = std::chrono::steady_clock::now();
  const int64_t lines = count_lines(text.source);
  const std::string& first = text.out.front();
  if (!fs::exists(first)) {
    search.emplace_back("nbest", candidates);
    Teacher teacher(translator, std::move(search), text, lines);
    PartReader part(text, lines_of_part);
    const int64_t parts = translate_in_parts(teacher, part, first, processes);
    processes.gather('\0');  // all parts are there
    if (processes.first()) join_parts(text.out, parts);
  }
  run_on_first(processes, [&] { remove_parts(first); });
  return {.lines = lines, .left_out = empty_lines(first), .seconds = seconds_since(begin)};
}

}  // namespace dragoman::internal
