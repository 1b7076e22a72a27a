#include "document/messages/po_entries.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view po_blanks = " \t\r\f\v";
constexpr size_t max_forms = 100;

class PoParser {
 public:
  PoParser(std::string_view file, const DocumentSettings& settings) : file_(file), settings_(settings) {}

  std::vector<PoEntry> parse() && {
    for (size_t begin = 0; begin < file_.size(); ++line_) {
      const size_t end = std::min(file_.find('\n', begin), file_.size());
      read_line(begin, end, std::min(end + 1, file_.size()));
      begin = end + 1;
    }
    finish_entry();
    return std::move(entries_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw Error("{}: line {} {}: check the file with \"msgfmt --check\"", settings_.name, line_, what);
  }

  void read_line(size_t begin, size_t end, size_t next) {
    at_ = begin;
    end_ = end;
    skip_blanks();
    if (at_ == end_) return;
    if (file_[at_] == '#') return read_comment(begin, next);
    if (file_[at_] != '"') read_keyword();
    read_strings();
  }

  void read_comment(size_t begin, size_t next) {
    if (!entry_.translations.empty()) finish_entry();
    field_ = nullptr;
    const std::string_view comment = file_.substr(at_, end_ - at_);
    if (comment.starts_with("#~") && !has_id_) entry_ = {};  // flags before it belong to it
    if (comment.starts_with("#,")) {
      entry_.flag_lines.push_back({begin, next});
      std::ranges::copy(flags_of(comment), std::back_inserter(entry_.flags));
    } else if (comment.starts_with("#|")) {
      entry_.previous.push_back({begin, next});
    }
  }

  void read_keyword() {
    const size_t begin = at_;
    at_ = std::min(file_.find_first_of(" \t\"[\r", at_), end_);
    const std::string_view keyword = file_.substr(begin, at_ - begin);
    if (!entry_.translations.empty() && keyword != "msgstr") finish_entry();
    if (keyword == "msgid") {
      if (has_id_) fail("begins a message, but the one before it has no msgstr");
      has_id_ = true;
      if (!entry_.has_context) entry_.begin = begin;
      field_ = &entry_.id;
    } else if (keyword == "msgid_plural" && has_id_) {
      entry_.has_plural = true;
      field_ = &entry_.plural_id;
    } else if (keyword == "msgstr" && has_id_) {
      add_translation();
    } else if (keyword == "msgctxt" && !has_id_) {
      entry_.has_context = true;
      entry_.begin = begin;
      field_ = &(other_ = {});
    } else if (keyword == "domain") {
      field_ = &(other_ = {});
    } else {
      fail("does not begin with a string, a comment or a keyword that is allowed there");
    }
    field_->place.begin = begin;
    skip_blanks();
    if (at_ == end_ || file_[at_] != '"') fail("has no string after its keyword");
  }

  void add_translation() {
    const size_t expected = entry_.translations.size();
    size_t form = 0;
    if (at_ < end_ && file_[at_] == '[') {
      const auto [rest, error] = std::from_chars(file_.data() + at_ + 1, file_.data() + end_, form);
      if (error != std::errc() || rest == file_.data() + end_ || *rest != ']')
        fail("has a plural form without a number");
      at_ = static_cast<size_t>(rest - file_.data()) + 1;
      if (!entry_.has_plural) fail("has a plural form, but the message has no msgid_plural");
    } else if (entry_.has_plural) {
      fail("has msgstr, but the message has a plural, which needs msgstr[0]");
    }
    if (form != expected || form == max_forms) fail("has a plural form out of order");
    field_ = &entry_.translations.emplace_back();
  }

  void read_strings() {
    while (at_ < end_) {
      if (file_[at_] != '"') fail("has something after a string");
      if (field_ == nullptr) fail("has a string without a keyword before it");
      const size_t begin = ++at_;
      while (at_ < end_ && file_[at_] != '"') at_ += file_[at_] == '\\' ? 2 : 1;
      if (at_ >= end_) fail("has an unterminated string");
      field_->value += file_.substr(begin, at_ - begin);
      field_->place.end = ++at_;
      skip_blanks();
    }
  }

  void skip_blanks() { at_ = std::min(file_.find_first_not_of(po_blanks, at_), end_); }

  void finish_entry() {
    if (has_id_ && entry_.translations.empty()) fail("comes after a message without msgstr");
    if (has_id_) entries_.push_back(std::move(entry_));
    entry_ = {};
    has_id_ = false;
    field_ = nullptr;
  }

  std::string_view file_;
  const DocumentSettings& settings_;
  std::vector<PoEntry> entries_ = {};
  PoEntry entry_ = {};
  PoField other_ = {};
  PoField* field_ = nullptr;  // that strings are appended to
  bool has_id_ = false;
  size_t at_ = 0, end_ = 0, line_ = 1;  // end_ of the line
};

}  // namespace

std::vector<std::string_view> flags_of(std::string_view line) {
  std::vector<std::string_view> flags;
  line.remove_prefix(std::min(line.find(','), line.size()));
  while (!line.empty()) {
    line.remove_prefix(1);
    const size_t end = std::min(line.find(','), line.size());
    const std::string_view flag = line.substr(0, end);
    if (const TextSpan name = trimmed(flag); name.begin < name.end) flags.push_back(name.of(flag));
    line.remove_prefix(end);
  }
  return flags;
}

std::vector<PoEntry> po_entries(std::string_view file, const DocumentSettings& settings) {
  return PoParser(file, settings).parse();
}

}  // namespace dragoman::internal
