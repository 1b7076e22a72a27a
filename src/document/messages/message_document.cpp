#include "document/messages/message_document.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace dragoman::internal {

bool MessageTemplate::has_segments() const {
  return std::ranges::any_of(parts, [](const Part& part) { return part.segment.has_value(); });
}

std::string MessageTemplate::with(std::span<const std::string> rendered) const {
  std::string value;
  for (const Part& part : parts) value += part.kept + (part.segment ? rendered[*part.segment] : "");
  return value;
}

MessageTemplate message_template(std::vector<MessagePart> found, std::vector<DocumentSegment>& segments) {
  MessageTemplate message;
  for (MessagePart& part : found) {
    message.parts.push_back({.kept = std::move(part.kept)});
    if (!part.segment) continue;
    message.parts.back().segment = segments.size();
    segments.push_back(*std::move(part.segment));
  }
  return message;
}

void MessageDocument::add(std::string_view bytes, std::vector<MessagePart> parts, Finish finish) {
  MessageTemplate message = message_template(std::move(parts), segments_);
  if (!message.has_segments()) return keep(bytes);
  pieces_.push_back({.kept = std::exchange(kept_, {}),
                     .bytes = std::string(bytes),
                     .message = std::move(message),
                     .finish = std::move(finish)});
}

void MessageDocument::add_format(std::string_view bytes, const StringSyntax& syntax,
                                 const FormatGrammar& grammar) {
  add(bytes, message_parts(bytes, syntax, {.grammar = &grammar}),
      [&grammar, text = std::string(bytes)](const std::string& translation) {
        return with_arguments_in_order(grammar, text, translation).value_or(text);
      });
}

Document MessageDocument::finish() && {
  pieces_.push_back({.kept = std::move(kept_)});
  const auto write = [pieces = std::move(pieces_),
                      count = segments_.size()](std::span<const std::string> rendered) {
    CHECK(rendered.size() == count, "{} of {} segments", rendered.size(), count);
    std::string file;
    for (const Piece& piece : pieces) {
      std::string value = piece.message.with(rendered);
      if (piece.finish && value != piece.bytes) value = piece.finish(std::move(value));
      file += piece.kept + value;
    }
    return file;
  };
  return {.segments = std::move(segments_), .write = write};
}

}  // namespace dragoman::internal
