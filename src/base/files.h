// Whole files, read and written. Every failure is an Error with the path and the system's reason.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

std::string read_file(const std::string& path);

// After a crash at any instant the path holds either the old contents or the new ones, whole: a temporary file
// beside it is flushed to the disk and renamed. For one writer a path at a time.
// Where the path is a link, that holds for what it leads to; where it is a pipe or a device, that is written to.
// The parts are written one after another, so that nobody need copy them into one.
void write_file(const std::string& path, const std::vector<std::string_view>& parts);

// With those above it, where they are missing.
void make_folder(const std::string& path);

// For whoever reads or writes after long work: the Error that would come then, as far as one can see before. Nothing is
// opened, so that a pipe keeps its bytes, and nothing is made.
void check_readable(const std::string& file);
void check_writable(const std::string& file);
void check_writable_folder(const std::string& folder);  // it may still have to be made, and those above it

}  // namespace dragoman
