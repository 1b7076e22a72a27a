#include "app/review_printer.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/output.h"
#include "base/log.h"
#include "base/quotes.h"
#include "base/status_line.h"
#include "dragoman/confidence.h"
#include "serve/translation_json.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// The words that are least likely right, at most three of those below a half.
std::string unsure_words(const dragoman::Hypothesis& hypothesis) {
  constexpr double unsure = 0.5;
  constexpr size_t most = 3;
  std::vector<WordConfidence> words = hypothesis.words();
  std::erase_if(words, [](const WordConfidence& word) { return word.confidence >= unsure; });
  std::ranges::stable_sort(words, {}, &WordConfidence::confidence);
  words.resize(std::min(words.size(), most));
  const std::u32string text = code_points(hypothesis.text);
  std::vector<std::string> quoted;
  for (const WordConfidence& word : words)
    quoted.push_back(
        "“" + to_utf8(std::u32string_view(text).substr(word.span.begin, word.span.end - word.span.begin)) +
        "”");
  return quoted.empty() ? "" : fmt::format("unsure of {}", fmt::join(quoted, ", "));
}

std::string without_tabs(std::string text) {
  std::ranges::replace(text, '\t', ' ');
  return text;
}

}  // namespace

void ReviewPrinter::print(const dragoman::Translation& line) {
  ++number_;
  const dragoman::Hypothesis& best = line.hypotheses.front();
  std::vector<std::string> reasons;
  for (const Finding& finding :
       dragoman::check_translation(line.source, best.text, languages_.from, languages_.to))
    reasons.push_back(finding.description);
  for (const std::string_view flag : flags_of(line))
    if (flag != "memory") reasons.emplace_back(flag);  // a person's own translation
  if (best.confidence() >= below_ && reasons.empty()) return;
  ++printed_;
  if (format_ == OutputFormat::json) {
    std::cout << "{\"line\":" << number_ << ",\"translation\":";
    print_json(std::cout, line,
               {.words = true, .findings = true, .from = languages_.from, .to = languages_.to});
    std::cout << "}\n";
  } else {
    if (std::string words = unsure_words(best); !words.empty()) reasons.push_back(std::move(words));
    std::cout << fmt::format("{}\t{:.2f}\t{}\t{}\t{}\n", number_, best.confidence(),
                             without_tabs(fmt::format("{}", fmt::join(reasons, "; "))),
                             without_tabs(line.source), without_tabs(best.text));
  }
  flush_output();
}

void ReviewPrinter::finish() const {
  log_info("{} of {} to be reviewed", with_commas(printed_), counted(number_, "line"));
}

}  // namespace dragoman::internal
