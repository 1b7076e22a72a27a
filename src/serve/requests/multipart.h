// Bodies of type multipart/form-data (RFC 7578), in which browsers and clients send files.
//
// What could be read in two ways is refused: a bare line feed, a header twice, two boundaries, anything but the closing
// boundary at the end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

struct FormPart {
  std::string name;
  std::string file_name = {};     // its last component, valid UTF-8; empty where the part is a field
  bool is_file = false;           // it has a file name, though perhaps an empty one
  std::string_view content = {};  // within the body
};

inline constexpr size_t max_form_parts = 100;

// Throws a ServeError of status 400 or 415.
std::vector<FormPart> parse_multipart(std::string_view content_type, std::string_view body);

// A % that does not begin an escape stands for itself, as in browsers.
std::string percent_decoded(std::string_view text);
std::string form_decoded(std::string_view text);  // where + is a space, too

}  // namespace dragoman::internal
