// Whole files, read and written. Every failure is an Error with the path and the system's reason.
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

std::string read_file(const std::string& path);

// After a crash at any instant the path holds either the old contents or the new ones, whole: a temporary file
// beside it is flushed to the disk and renamed. For one writer a path at a time.
void write_file(const std::string& path, std::string_view contents);

}  // namespace dragoman
