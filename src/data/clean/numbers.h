// Whether both sides of a pair have the same numbers.
//
// A number may be a word on one side ("30", "trente"), have other separators ("1,000.5", "1 000,5"), another number of
// thousands ("2.5 million", "2 500 000"), twelve hours more ("3 pm", "15 h"), or lack its century ("1960s", "les années
// 60"). So sides differ only where each has a number that the other lacks, or one lacks a number that nobody writes in
// words, such as 1987.
#pragma once

#include <string_view>

namespace dragoman::internal {

bool numbers_differ(std::string_view source, std::string_view target);

}  // namespace dragoman::internal
