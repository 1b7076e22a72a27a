// Whole files, read and written, and folders. Every failure is an Error with the path and the system's reason.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

std::string read_file(const std::string& path);

// After a crash at any instant the path holds either the old contents or the new ones, whole: a temporary file
// beside it is flushed to the disk, read back and renamed. One writer per path at a time.
// If the path is a link, this holds for its target; a pipe or a device is written to directly.
// The parts are written one after another, which saves copying them into one.
void write_file(const std::string& path, const std::vector<std::string_view>& parts);

// The same for contents that need not fit into memory: they hand their parts to a function, from the first to the last.
// They are asked for twice, for writing and for reading back.
using Contents = std::function<void(const std::function<void(std::string_view)>& take)>;
void stream_to_file(const std::string& path, const Contents& contents);

// Creates it, and its missing parents, to last through a crash.
void make_folder(const std::string& path);

// "models/x" for "models/x//"; "/" stays.
std::string without_final_slashes(std::string folder);

// The file that a link leads to, so that the link stays; else the path itself.
std::string behind_links(const std::string& path);

// Whether the path still names the open file or folder.
bool is_named(int file, const std::string& path);

// The paths of a folder's files and folders, in no particular order.
std::vector<std::string> entries_of(const std::string& folder);

// Before long work: throws the Error that reading or writing would throw after it, as far as it can be foreseen. Opens
// nothing, so that a pipe keeps its bytes, and creates nothing.
void check_readable(const std::string& file);
void check_writable(const std::string& file);
void check_writable_folder(const std::string& folder);  // it and its parents may not exist yet

}  // namespace dragoman::internal
