// Whole files, read and written. Every failure is an Error with the path and the system's reason.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

std::string read_file(const std::string& path);

// After a crash at any instant the path holds either the old contents or the new ones, whole: a temporary file
// beside it is flushed to the disk and renamed. For one writer a path at a time.
// The parts are written one after another, so that nobody need copy them into one.
void write_file(const std::string& path, const std::vector<std::string_view>& parts);

}  // namespace dragoman
