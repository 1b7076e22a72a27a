#include "document/subtitles/cues.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// LF, CRLF or CR ends a line.
std::vector<TextSpan> file_lines(std::string_view file) {
  std::vector<TextSpan> lines;
  for (size_t begin = 0; begin < file.size();) {
    const size_t end = std::min(file.find_first_of("\r\n", begin), file.size());
    lines.push_back({begin, end});
    begin = end + (file.substr(end).starts_with("\r\n") ? 2 : 1);
  }
  return lines;
}

// Removes a number and one of the separators after it.
std::optional<double> take_number(std::string_view& text, std::string_view separators) {
  uint32_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  if (separators.empty()) return number;
  if (text.empty() || separators.find(text[0]) == separators.npos) return {};
  text.remove_prefix(1);
  return number;
}

// [hours:]minutes:seconds[,milliseconds], with "." or ",".
std::optional<double> take_time(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  double seconds = 0;
  for (int i = 0; i < 2; ++i) {
    std::string_view rest = text;
    const auto number = take_number(rest, ":");
    if (!number && i == 0) return {};
    if (!number) break;
    seconds = (seconds + *number) * 60;
    text = rest;
  }
  const auto whole = take_number(text, "");
  if (!whole) return {};
  seconds += *whole;
  if (!text.starts_with('.') && !text.starts_with(',')) return seconds;
  text.remove_prefix(1);
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  double share = 1;
  for (const char digit : text.substr(0, std::min(digits, size_t{6})))
    seconds += (digit - '0') * (share /= 10);
  text.remove_prefix(digits);
  return seconds;
}

// The line "00:01:02,500 --> 00:01:04,000", which settings may follow.
std::optional<Cue> cue_of_times(std::string_view line) {
  if (line.size() > 1000) return {};
  const auto begin = take_time(line);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!begin || !line.starts_with("-->")) return {};
  line.remove_prefix(3);
  const auto end = take_time(line);
  if (!end) return {};
  return Cue{.lines = {}, .begin = *begin, .end = *end};
}

bool is_counter(std::string_view line) {
  const TextSpan inner = trimmed(line);
  return inner.begin < inner.end && inner.of(line).find_first_not_of("0123456789") == std::string_view::npos;
}

// The number of a cue is the last line that is not blank before its time.
void drop_counter(std::string_view file, std::vector<TextSpan>& lines) {
  while (!lines.empty() && is_white_space(lines.back().of(file))) lines.pop_back();
  if (!lines.empty() && is_counter(lines.back().of(file))) lines.pop_back();
}

}  // namespace

std::vector<Cue> srt_cues(std::string_view file, const DocumentSettings& settings) {
  std::vector<Cue> cues;
  for (const TextSpan line : file_lines(file)) {
    if (auto next = cue_of_times(line.of(file))) {
      if (!cues.empty()) drop_counter(file, cues.back().lines);
      cues.push_back(std::move(*next));
    } else if (!cues.empty()) {
      cues.back().lines.push_back(line);
    }
  }
  if (cues.empty() && !is_white_space(file))
    throw Error(
        "{}: no line has the time of a subtitle, such as 00:00:01,000 --> 00:00:02,500: is it SubRip?",
        settings.name);
  return cues;
}

std::vector<Cue> vtt_cues(std::string_view file, const DocumentSettings& settings) {
  if (!file.starts_with("WEBVTT"))
    throw Error("{}: line 1 is not \"WEBVTT\", as WebVTT requires: is it SubRip (.srt)?", settings.name);
  std::vector<Cue> cues;
  bool in_header = true, in_cue = false, in_block = false;
  for (const TextSpan line : file_lines(file)) {
    const std::string_view bytes = line.of(file);
    if (bytes.empty()) {
      in_header = in_cue = in_block = false;
      continue;
    }
    if (in_header) continue;
    const bool is_note =
        !in_block && (bytes == "NOTE" || bytes.starts_with("NOTE ") || bytes.starts_with("NOTE\t"));
    in_header = is_note;  // to the end of the block
    in_block = true;
    if (is_note) continue;
    if (auto next = cue_of_times(bytes)) {
      cues.push_back(std::move(*next));
      in_cue = true;
    } else if (in_cue) {
      cues.back().lines.push_back(line);
    }
  }
  return cues;
}

}  // namespace dragoman::internal
