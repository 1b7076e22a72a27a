// A file of strings: each is rewritten as a whole, by the rules of the file's format, where its translation differs.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/messages/strings.h"

namespace dragoman::internal {

// A message, with segments of a document in it.
struct MessageTemplate {
  struct Part {
    std::string kept;
    std::optional<size_t> segment = {};  // after it
  };
  std::vector<Part> parts = {};

  bool has_segments() const;
  std::string with(std::span<const std::string> rendered) const;
};

// Moves the segments of the message to the others.
MessageTemplate message_template(std::vector<MessagePart> found, std::vector<DocumentSegment>& segments);

class MessageDocument {
 public:
  // What is written for a message whose translation differs from it.
  using Finish = std::function<std::string(std::string translation)>;

  void keep(std::string_view bytes) { kept_ += bytes; }
  void add(std::string_view bytes, std::vector<MessagePart> parts, Finish finish = {});
  // A format string, which stays as it is where its translation cannot take the same arguments.
  void add_format(std::string_view bytes, const StringSyntax& syntax, const FormatGrammar& grammar);
  Document finish() &&;

 private:
  struct Piece {
    std::string kept;
    std::string bytes = {};  // of the message
    MessageTemplate message = {};
    Finish finish = {};
  };

  std::string kept_;  // since the last message
  std::vector<Piece> pieces_;
  std::vector<DocumentSegment> segments_;
};

}  // namespace dragoman::internal
