#include "document/document.h"

#include <charconv>
#include <memory>
#include <utility>

#include <unicode/uchar.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/lines.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// A segment's index stands between two of these, which UTF-8 never contains.
constexpr char border_of_index = '\xFF';

// Bytes with the segments in their places, each at the first of its places.
std::string with_segments(std::string_view bytes, std::span<std::string> segments,
                          std::vector<bool>& written) {
  std::string result;
  while (!bytes.empty()) {
    const size_t begin = std::min(bytes.find(border_of_index), bytes.size());
    result += bytes.substr(0, begin);
    bytes.remove_prefix(begin);
    if (bytes.empty()) break;
    size_t index = segments.size();
    const char* const end = std::from_chars(bytes.data() + 1, bytes.data() + bytes.size(), index).ptr;
    if (index < segments.size() && end < bytes.data() + bytes.size() && *end == border_of_index &&
        !written[index]) {
      result += std::exchange(segments[index], {});
      written[index] = true;
      bytes.remove_prefix(static_cast<size_t>(end - bytes.data()) + 1);
    } else {
      result += border_of_index;
      bytes.remove_prefix(1);
    }
  }
  return result;
}

}  // namespace

TextSpan trimmed(std::string_view text) {
  const size_t begin = leading_space(text);
  return {begin, text.size() - trailing_space(text.substr(begin))};
}

bool has_letters(std::string_view text) {
  return has_character(text, [](char32_t c) { return u_isalpha(static_cast<UChar32>(c)) != 0; });
}

void append_collapsed(std::string& text, std::string_view more) {
  constexpr std::string_view white = " \t\n\f\r";
  for (const char c : more) {
    const bool space = white.find(c) != white.npos;
    if (!space || !text.ends_with(' ')) text += space ? ' ' : c;
  }
}

std::string escape_markup(std::string_view text) {
  return escaped(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}});
}

std::string collapsed(std::string_view text) {
  std::string words;
  append_collapsed(words, text);
  const TextSpan inner = trimmed(words);
  return std::string(inner.of(words));
}

std::string fixed_words(std::string_view shown) {
  constexpr size_t max_bytes = 60;
  const std::string words = collapsed(shown);
  return words.size() <= max_bytes ? words : "";
}

void check_utf8(std::string_view bytes, const DocumentSettings& settings) {
  if (is_text(bytes)) return;
  size_t line = 1;
  for (std::string_view rest = bytes; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    if (!is_text(rest.substr(0, end))) break;
    rest.remove_prefix(end);
  }
  throw Error("{}: line {} is not valid UTF-8: convert the file first", settings.name, line);
}

Document with_change(Document document, std::function<std::string(const std::string& written)> change) {
  if (document.write_with_origins)
    document.write_with_origins = [write = std::move(document.write_with_origins), change](
                                      std::span<const std::string> rendered,
                                      std::span<const TranslationOrigin> origins) {
      return change(write(rendered, origins));
    };
  document.write = [write = std::move(document.write), change = std::move(change)](
                       std::span<const std::string> rendered) { return change(write(rendered)); };
  return document;
}

Document read_after_mark(std::string_view bytes, const std::function<Document(std::string_view)>& read) {
  if (!bytes.starts_with(byte_order_mark)) return read(bytes);
  return with_change(read(bytes.substr(byte_order_mark.size())),
                     [](const std::string& written) { return std::string(byte_order_mark) + written; });
}

Document document_with_origins(std::vector<DocumentSegment> segments, WriteWithOrigins write) {
  // It holds the whole file.
  const auto shared = std::make_shared<const WriteWithOrigins>(std::move(write));
  return {.segments = std::move(segments),
          .write = [shared](std::span<const std::string> rendered) { return (*shared)(rendered, {}); },
          .write_with_origins =
              [shared](std::span<const std::string> rendered, std::span<const TranslationOrigin> origins) {
                return (*shared)(rendered, origins);
              }};
}

void FlatDocument::keep(std::string_view bytes) { file_ += bytes; }

void FlatDocument::add(DocumentSegment segment) { file_ += nest(std::move(segment)); }

std::string FlatDocument::nest(DocumentSegment segment) {
  segments_.push_back(std::move(segment));
  return fmt::format("{0}{1}{0}", border_of_index, segments_.size() - 1);
}

void FlatDocument::add_text(std::string_view text) {
  const TextSpan inner = trimmed(text);
  const std::string words(inner.of(text));
  if (!has_letters(words)) return keep(text);
  keep(text.substr(0, inner.begin));
  add({.text = words, .original = words});
  keep(text.substr(inner.end));
}

Document FlatDocument::finish() && {
  const auto write = [file = std::move(file_),
                      count = segments_.size()](std::span<const std::string> rendered) {
    CHECK(rendered.size() == count, "{} of {} segments", rendered.size(), count);
    std::vector<std::string> whole;
    std::vector<bool> written(count);
    // A segment comes after those inside it.
    for (const std::string& bytes : rendered) whole.push_back(with_segments(bytes, whole, written));
    std::string bytes = with_segments(file, whole, written);
    for (size_t i = 0; i < count; ++i) CHECK(written[i], "segment {} is lost", i);
    return bytes;
  };
  return {.segments = std::move(segments_), .write = write};
}

}  // namespace dragoman::internal
