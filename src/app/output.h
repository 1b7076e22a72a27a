// Where results go: line by line to standard output, or, whole at the end, to the file that --out names ("-": standard
// output).
#pragma once

#include <cstdint>
#include <string>

namespace dragoman::internal {

// To be called first. A file that is opened while standard error is closed would get its number, and the log with it.
// What stands in for a closed stream cannot be used either: input cannot be read from it, nor output written to it.
void occupy_closed_streams();

// Throws an Error if standard output cannot be written. If its reader is gone, throws Stopped with SIGPIPE and no
// message: what the signal itself does, unless the parent process had it ignored.
void flush_output();

// The columns of standard output's terminal; 100 where it is none, or a tiny one.
int64_t terminal_width();

// Also by its other name: a file that it leads to must not be replaced.
bool is_standard_output(const std::string& out);

// Before the work: throws an Error if the file cannot be written.
void check_output(const std::string& out);

// Prints the file's name, unless it is standard output.
void write_output(const std::string& out, const std::string& contents);

}  // namespace dragoman::internal
