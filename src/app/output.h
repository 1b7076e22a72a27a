// Where results go: to standard output line by line, or, what a command makes whole and gives out at its end, into the
// file that --out names or to standard output for "-".
#pragma once

#include <string>

namespace dragoman {

// Hands on what was printed. An Error where it cannot be written; where nobody reads on, Stopped by SIGPIPE without a
// word, as the signal itself does unless whoever started the program had it ignored.
void flush_output();

// Before the work: an Error where it could not be written in the end.
void check_output(const std::string& out);

// Of a file the name is printed.
void write_output(const std::string& out, const std::string& contents);

}  // namespace dragoman
