#include "document/messages/json_tree.h"

#include <algorithm>
#include <utility>

namespace dragoman::internal {
namespace {

// By recursive descent, of which parse_json has limited the depth.
class JsonTreeReader {
 public:
  explicit JsonTreeReader(std::string_view file) : file_(file) {}

  JsonNode value() {
    skip(" \t\r\n");
    JsonNode node = {.place = {at_, at_}};
    if (file_[at_] == '"') {
      node.kind = JsonNode::Kind::string;
      at_ = string_end();
    } else if (file_[at_] == '{' || file_[at_] == '[') {
      node.kind = file_[at_] == '{' ? JsonNode::Kind::object : JsonNode::Kind::array;
      read_members(node);
    } else {
      at_ = std::min(file_.find_first_of(" \t\r\n,]}", at_), file_.size());
    }
    node.place.end = at_;
    return node;
  }

 private:
  void read_members(JsonNode& node) {
    for (++at_, skip(" \t\r\n,"); file_[at_] != '}' && file_[at_] != ']'; skip(" \t\r\n,")) {
      TextSpan key;
      if (node.kind == JsonNode::Kind::object) {
        const size_t end = string_end();
        key = {at_ + 1, end - 1};
        at_ = end;
        skip(" \t\r\n:");
      }
      JsonNode read = value();
      const bool is_number = node.kind == JsonNode::Kind::array && read.kind == JsonNode::Kind::other;
      if (!is_number) node.members.push_back({key, std::move(read)});
    }
    ++at_;
  }

  // Behind the string at this place.
  size_t string_end() const {
    size_t end = at_ + 1;
    while (file_[end] != '"') end += file_[end] == '\\' ? 2 : 1;
    return end + 1;
  }

  void skip(std::string_view characters) {
    at_ = std::min(file_.find_first_not_of(characters, at_), file_.size());
  }

  std::string_view file_;
  size_t at_ = 0;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view file, std::string_view key) const {
  if (kind != Kind::object) return nullptr;
  const auto found =
      std::ranges::find_if(members, [&](const JsonMember& member) { return member.key.of(file) == key; });
  return found != members.end() ? &found->value : nullptr;
}

JsonNode json_tree(std::string_view file) { return JsonTreeReader(file).value(); }

}  // namespace dragoman::internal
