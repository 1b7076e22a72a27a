// XLIFF 1.2 (<trans-unit>) and 2 (<segment>).
#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "document/bilingual/readers.h"
#include "document/xml/stream.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

bool is_among(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

class XliffUnits : public XmlEvents {
 public:
  XliffUnits(const DocumentSettings& settings, const TakeTranslated& take)
      : settings_(settings), take_(take) {}

  void start(std::string_view name, const std::vector<XmlStreamAttribute>& attributes) override {
    if (text_ != nullptr) {
      if (code_depth_ > 0 || !is_among(name, {"g", "mrk", "pc"})) ++code_depth_;
    } else if (is_among(name, {"xliff", "file"})) {
      check_languages(attributes);
    } else if (is_among(name, {"trans-unit", "segment"})) {
      unit_ = {};
      state_ = value_of("state", attributes);
      depth_ = 0;
      in_unit_ = true;
    } else if (in_unit_ && depth_ == 0 && name == "source") {
      text_ = &unit_.source;
    } else if (in_unit_ && depth_ == 0 && name == "target") {
      text_ = &unit_.target;
      if (const std::string state = value_of("state", attributes); !state.empty()) state_ = state;
    } else if (in_unit_) {
      ++depth_;  // matches of a memory, notes, ...
    }
  }

  void end(std::string_view name) override {
    if (text_ != nullptr) {
      if (code_depth_ > 0)
        --code_depth_;
      else if (is_among(name, {"source", "target"}))
        text_ = nullptr;
    } else if (in_unit_ && depth_ > 0) {
      --depth_;
    } else if (is_among(name, {"trans-unit", "segment"})) {
      in_unit_ = false;
      // "needs-translation", "needs-review-translation", ...
      if (!is_among(state_, {"new", "initial"}) && !state_.starts_with("needs-"))
        take_trimmed(std::move(unit_), take_);
    }
  }

  void text(std::string_view text) override {
    if (text_ != nullptr && code_depth_ == 0) *text_ += text;
  }

 private:
  void check_languages(const std::vector<XmlStreamAttribute>& attributes) const {
    const auto check = [&](const char* side, const std::string& wanted, const char* first,
                           const char* second) {
      std::string found = value_of(first, attributes);
      if (found.empty()) found = value_of(second, attributes);
      if (!wanted.empty() && !found.empty() && !same_language(wanted, found))
        throw Error("{}: the {} language of the file is {}, not {}: give the languages that it has",
                    settings_.name, side, found, wanted);
    };
    check("source", settings_.from, "source-language", "srcLang");
    check("target", settings_.to, "target-language", "trgLang");
  }

  const DocumentSettings& settings_;
  const TakeTranslated& take_;
  BilingualText unit_;
  std::string state_;
  std::string* text_ = nullptr;  // that is being read
  bool in_unit_ = false;
  int depth_ = 0;  // of other elements inside the unit
  int code_depth_ = 0;
};

}  // namespace

void read_translated_xliff(ByteSource& bytes, const DocumentSettings& settings, const TakeTranslated& take) {
  XliffUnits units(settings, take);
  stream_xml(bytes, settings, units);
}

}  // namespace dragoman::internal
