// String tables of macOS and iOS: "key" = "text";
#include <algorithm>

#include "base/error.h"
#include "document/messages/message_document.h"
#include "document/messages/unicode_escapes.h"
#include "document/readers.h"
#include "document/utf16.h"

namespace dragoman::internal {
namespace {

constexpr StringEscapes apple_escapes = {"abfnrtv\"\\", "\a\b\f\n\r\t\v\"\\"};

size_t decode_apple(std::string_view bytes, std::string& text) {
  if (const size_t size = decode_unicode_escape(bytes, text, 'U'); size > 0) return size;
  if (bytes.starts_with("\\'")) {
    text += '\'';
    return 2;
  }
  return decode_character(bytes, apple_escapes, text);
}

std::string escape_apple(std::string_view text) { return escape_characters(text, apple_escapes); }

class AppleStrings {
 public:
  AppleStrings(std::string_view file, const DocumentSettings& settings) : file_(file), settings_(settings) {}

  Document document() && {
    size_t kept = 0;
    for (skip(); at_ < file_.size(); skip()) {
      read_string();  // the key
      skip();
      if (file_[std::min(at_, file_.size() - 1)] == ';') {  // the key is the text
        ++at_;
        continue;
      }
      expect('=');
      skip();
      const std::string_view text = read_string();
      skip();
      expect(';');
      const auto begin = static_cast<size_t>(text.data() - file_.data());
      document_.keep(file_.substr(kept, begin - kept));
      document_.add_format(text, string_syntax<decode_apple, escape_apple>(),
                           *format_grammar("apple-format"));
      kept = begin + text.size();
    }
    document_.keep(file_.substr(kept));
    return std::move(document_).finish();
  }

 private:
  // White space and comments.
  void skip() {
    for (;;) {
      at_ = std::min(file_.find_first_not_of(" \t\r\n", at_), file_.size());
      const bool line = file_.substr(at_).starts_with("//"), block = file_.substr(at_).starts_with("/*");
      if (!line && !block) return;
      const size_t end = line ? file_.find('\n', at_) : file_.find("*/", at_ + 2);
      if (end == file_.npos && block) fail("has a comment without an end");
      at_ = line ? std::min(end, file_.size()) : end + 2;
    }
  }

  // Without its quotation marks, which a word may lack.
  std::string_view read_string() {
    const size_t begin = at_;
    if (at_ < file_.size() && file_[at_] == '"') {
      for (++at_; at_ < file_.size() && file_[at_] != '"';) at_ += file_[at_] == '\\' ? 2 : 1;
      if (at_ >= file_.size()) {
        at_ = begin;
        fail("has a string without an end");
      }
      return file_.substr(begin + 1, at_++ - begin - 1);
    }
    at_ = std::min(file_.find_first_of(" \t\r\n=;\"/", at_), file_.size());
    if (at_ == begin) fail("has no string where one is expected");
    return file_.substr(begin, at_ - begin);
  }

  void expect(char c) {
    if (at_ == file_.size() || file_[at_] != c) fail(std::string("has no ") + c + " where one is expected");
    ++at_;
  }

  [[noreturn]] void fail(std::string_view what) const {
    const std::string_view before = file_.substr(0, std::min(at_, file_.size()));
    throw Error("{}: line {} {}: check the file with \"plutil -lint\"", settings_.name,
                1 + std::ranges::count(before, '\n'), what);
  }

  std::string_view file_;
  const DocumentSettings& settings_;
  size_t at_ = 0;
  MessageDocument document_ = {};
};

Document read_utf8(std::string_view bytes, const DocumentSettings& settings) {
  return read_after_mark(bytes,
                         [&](std::string_view text) { return AppleStrings(text, settings).document(); });
}

}  // namespace

Document read_apple_strings(std::string_view bytes, const DocumentSettings& settings) {
  return read_unicode(bytes, settings, read_utf8);
}

}  // namespace dragoman::internal
