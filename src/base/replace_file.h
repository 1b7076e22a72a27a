// Writes whole files, for those that must never be half there: models, checkpoints, reports.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dragoman {

// Writes the parts one after the other. After a crash at any instant the path holds either its old contents or the
// new ones, whole: a temporary file beside it is flushed to the disk and then takes its name. One writer a path at
// a time. A failure is an Error with the path and the system's reason, and leaves the old contents.
void replace_file(const std::string& path, std::span<const std::string_view> parts);

}  // namespace dragoman
