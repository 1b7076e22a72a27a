#include "train/progress.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "text/columns.h"

namespace dragoman::internal {
namespace {

std::string bar(double done, int width) {
  const int full = static_cast<int>(std::clamp(done, 0.0, 1.0) * width);
  std::string text;
  for (int i = 0; i < width; ++i) text += i < full ? "█" : "░";
  return text;
}

// One line of text, whatever it contains: a terminal obeys control characters.
std::string on_one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  return text;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<int64_t>(std::max(seconds, 0.0));
  const int64_t days = s / 86400, hours = s / 3600 % 24, minutes = s / 60 % 60;
  if (days > 0) return fmt::format("{} d {:02}:{:02}", days, hours, minutes);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, s % 60);
  return fmt::format("{}:{:02}", minutes, s % 60);
}

// Not where the caller wants no log.
Progress::Progress()
    : terminal_(isatty(STDERR_FILENO) == 1 && is_logged(LogLevel::info)), last_(Clock::now()) {}

void Progress::show(const UpdateReport& report) {
  const auto now = Clock::now();
  if (!first_done_) {
    first_done_ = report.done;
    first_ = now;
  }
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(60000))) return;
  last_ = now;
  std::vector<std::string> fields = {fmt::format("epoch {}", report.epoch),
                                     fmt::format("step {}", report.step),
                                     fmt::format("loss {:.3f}", report.unsmoothed_loss)};
  if (report.alignment_loss) fields.push_back(fmt::format("alignment loss {:.3f}", *report.alignment_loss));
  if (report.done && *report.done > *first_done_) {
    const double seconds = std::chrono::duration<double>(now - first_).count();
    fields.push_back(duration_text(seconds * (1 - *report.done) / (*report.done - *first_done_)) + " left");
  }
  fields.push_back(fmt::format("{:.0f} tokens/s", report.tokens_per_second));
  if (!terminal_) return log_info("{}", line_of(fields, {}));
  if (report.done) fields.insert(fields.begin(), fmt::format("{:3.0f} %", 100 * *report.done));
  const std::optional<int64_t> columns = log_columns();
  const std::string with_bar = fmt::format("{} {}", bar(report.done.value_or(0), 12), line_of(fields, {}));
  const bool has_room = report.done && (!columns || columns_of(with_bar) <= *columns);
  write_over(has_room ? with_bar : line_of(fields, columns));
  shown_ = true;
}

// One of them in turn, fainter than the validations and cut to the terminal's width, so that those remain a table.
void Progress::show_sample(const ValidationReport& report) {
  if (!terminal_ || report.samples.empty()) return;
  const ValidationSample& sample = report.samples[samples_shown_++ % report.samples.size()];
  const bool is_continued = sample.is_continued;
  for (const auto& [name, text] :
       {std::pair(is_continued ? "beginning" : "source", &sample.source),
        std::pair(is_continued ? "original" : "reference", &sample.reference),
        std::pair(is_continued ? "generated" : "translation", &sample.translation)}) {
    std::string line = fmt::format("  {:<12} {}", name, on_one_line(*text));
    if (const auto columns = log_columns()) line = cut_to_columns(line, *columns);
    write_over("\x1b[2m" + line + "\x1b[0m\n");
  }
}

void Progress::show_work(const std::string& what) {
  if (!terminal_) return;
  write_over(what + " ...");
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  write_over("");
  shown_ = false;
}

}  // namespace dragoman::internal
