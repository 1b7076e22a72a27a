// parse_toml: a recipe as toml++ reads it, with errors that name the file and the line.
#pragma once

#include <string>

#include <toml++/toml.h>

namespace dragoman::internal {

// The place of an error: file and line.
std::string at_line(const std::string& path, const toml::source_region& region);

// Throws a UsageError. Keys of very many parts (a.b.c...) are refused, since each part is a table in the one before,
// and toml++ destroys them recursively; it limits the nesting of values itself.
toml::table parse_toml(const std::string& text, const std::string& path);

}  // namespace dragoman::internal
