// A valid JSON file as values with their places, so that all around a changed value stays byte for byte.
#pragma once

#include <string_view>
#include <vector>

#include "text/spans.h"

namespace dragoman::internal {

struct JsonMember;

struct JsonNode {
  enum class Kind { object, array, string, other };
  Kind kind = Kind::other;
  TextSpan place = {};  // in bytes of the file; of a string with its quotation marks
  // Of an object, in the file's order; of an array, without keys and without numbers and the like.
  std::vector<JsonMember> members;

  // The first member of an object with this key, as the file writes it. Null: there is none.
  const JsonNode* find(std::string_view file, std::string_view key) const;
  TextSpan inner() const { return {place.begin + 1, place.end - 1}; }  // of a string
};

struct JsonMember {
  TextSpan key = {};  // without its quotation marks
  JsonNode value = {};
};

// Of a file that parse_json_document accepts.
JsonNode json_tree(std::string_view file);

}  // namespace dragoman::internal
