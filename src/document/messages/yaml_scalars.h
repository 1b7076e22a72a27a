// The scalars of a YAML file, as yaml-cpp finds them, with their places in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

struct YamlScalar {
  enum class Style { plain, single_quoted, double_quoted, literal, folded };
  Style style = Style::plain;
  std::string value;
  TextSpan place =
      {};  // its text in the file: inside quotation marks, or from the first line of a block to the last
  bool is_string = false;  // by its tag, or as it has none
  bool is_key = false;
  bool in_flow = false;     // inside [] or {}
  size_t depth = 0;         // the number of maps and lists that it is in
  std::string key = {};     // of a value in a map
  bool in_formats = false;  // below a key such as "formats"
};

struct YamlFile {
  std::vector<YamlScalar> scalars;  // that the file has as this code expects, in their order
  // Of a file of one language in Rails: the scalar that names it. Null: it is no such file.
  const YamlScalar* language = nullptr;
};

// Throws an Error with the line if the file is invalid.
YamlFile yaml_file(std::string_view file, const DocumentSettings& settings);

size_t decode_yaml_folded(std::string_view bytes, std::string& text);  // of plain text
size_t decode_yaml_single_quoted(std::string_view bytes, std::string& text);
size_t decode_yaml_double_quoted(std::string_view bytes, std::string& text);
size_t decode_yaml_literal(std::string_view bytes, std::string& text);  // without the indentation of lines

}  // namespace dragoman::internal
