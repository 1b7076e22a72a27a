#include "document/messages/icu.h"

#include <algorithm>
#include <array>

namespace dragoman::internal {
namespace {

constexpr std::string_view spaces = " \t\r\n";
constexpr size_t max_depth = 40;

struct Argument {
  size_t size = 0;  // up to its first text, or its end if it has none; 0: it is invalid
  bool has_texts = false, is_plural = false;
};

size_t skip_spaces(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(spaces, at), text.size());
}

// Skips the word at `at` and the white space after it.
std::string_view take_word(std::string_view text, size_t& at) {
  at = skip_spaces(text, at);
  const size_t end = std::min(text.find_first_of(" \t\r\n{},'", at), text.size());
  const std::string_view word = text.substr(at, end - at);
  at = skip_spaces(text, end);
  return word;
}

// The argument at the beginning of a text: {name}, {name, number, style}, or the part before the first selector of
// {name, plural, one {...}}.
Argument argument_at(std::string_view text) {
  size_t at = 1;
  if (take_word(text, at).empty() || at == text.size()) return {};
  if (text[at] == '}') return {.size = at + 1};
  if (text[at] != ',') return {};
  const std::string_view type = take_word(text, ++at);
  const bool is_plural = type == "plural" || type == "selectordinal";
  if (type.empty() || at == text.size()) return {};
  if (is_plural || type == "select") {
    if (text[at] != ',') return {};
    size_t after = ++at;
    if (const std::string_view offset = take_word(text, after); offset.starts_with("offset:")) {
      if (offset.size() == 7) take_word(text, after);  // "offset: 1"
      at = after;
    }
    return {.size = at, .has_texts = true, .is_plural = is_plural};
  }
  const size_t end = text.find_first_of("{}", at);
  return end != text.npos && text[end] == '}' ? Argument{.size = end + 1} : Argument{};
}

// The end of a quoted part: '{' or '{literally}'. One or two other apostrophes are one.
size_t quoted_end(std::string_view text, size_t at, bool in_plural) {
  if (at + 1 == text.size()) return at + 1;
  if (text[at + 1] == '\'') return at + 2;
  if (text[at + 1] != '{' && text[at + 1] != '}' && !(in_plural && text[at + 1] == '#')) return at + 1;
  for (at = text.find('\'', at + 1); at != text.npos; at = text.find('\'', at + 2))
    if (!text.substr(at + 1).starts_with('\'')) return at + 1;
  return text.size();
}

class IcuParser {
 public:
  explicit IcuParser(std::string_view message) : message_(message) {}

  std::optional<std::vector<IcuText>> parse() && {
    while (at_ < message_.size())
      if (!(in_text_ ? read_text() : read_selector())) return {};
    if (!plurals_.empty() || !in_text_) return {};
    end_text();
    return std::move(texts_);
  }

 private:
  bool in_plural() const { return !plurals_.empty() && plurals_.back(); }

  void begin_text() {
    in_text_ = true;
    begin_ = at_;
  }
  void end_text() { texts_.push_back({{begin_, at_}, in_plural()}); }

  bool read_text() {
    const char c = message_[at_];
    if (c == '\'') {
      at_ = quoted_end(message_, at_, in_plural());
    } else if (c == '{') {
      return read_argument();
    } else if (c == '}') {
      if (plurals_.empty()) return false;
      end_text();
      ++at_;
      in_text_ = false;
    } else {
      ++at_;
    }
    return true;
  }

  bool read_argument() {
    const Argument argument = argument_at(message_.substr(at_));
    if (argument.size == 0 || plurals_.size() == max_depth) return false;
    if (argument.has_texts) {
      end_text();
      plurals_.push_back(argument.is_plural);
      in_text_ = false;
    }
    at_ += argument.size;
    return true;
  }

  // A selector and the brace after it, or the end of the argument.
  bool read_selector() {
    const std::string_view selector = take_word(message_, at_);
    if (at_ == message_.size()) return false;
    const char c = message_[at_++];
    if (c == '{' && !selector.empty()) {
      begin_text();
    } else if (c == '}' && selector.empty()) {
      plurals_.pop_back();
      begin_text();
    } else {
      return false;
    }
    return true;
  }

  std::string_view message_;
  size_t at_ = 0, begin_ = 0;
  bool in_text_ = true;
  std::vector<bool> plurals_ = {};  // of the arguments that are open, whether each is a plural
  std::vector<IcuText> texts_ = {};
};

}  // namespace

bool has_icu_choices(std::string_view message) {
  for (size_t at = message.find('{'); at != message.npos; at = message.find('{', at + 1))
    if (argument_at(message.substr(at, 200)).has_texts) return true;
  return false;
}

size_t icu_argument_at(std::string_view text) {
  if (!text.starts_with('{')) return 0;
  const Argument argument = argument_at(text);
  return argument.has_texts ? 0 : argument.size;
}

std::optional<std::vector<IcuText>> icu_texts(std::string_view message) { return IcuParser(message).parse(); }

}  // namespace dragoman::internal
