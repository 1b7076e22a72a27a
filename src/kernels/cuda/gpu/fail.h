// How the plug-in reports what went wrong: through the program, which throws its Error.
#pragma once

#include <string>

namespace dragoman::internal {

void report_failures_to(void (*fail)(const char* message));

// `message` is one sentence: what, where, what to do.
[[noreturn]] void fail(const std::string& message);

std::string size_in_words(size_t bytes);  // "1.5 GB"

}  // namespace dragoman::internal
