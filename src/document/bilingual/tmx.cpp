// TMX: units of the same text in several languages.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <vector>

#include "base/error.h"
#include "document/bilingual/readers.h"
#include "document/xml/stream.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

// "20260131T120000Z" as seconds since 1970; 0 if it is something else.
int64_t tmx_time(std::string_view text) {
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return 0;
  std::array<int, 6> parts = {};  // year, month, day, hour, minute, second
  constexpr std::array<std::array<size_t, 2>, 6> places = {
      {{0, 4}, {4, 2}, {6, 2}, {9, 2}, {11, 2}, {13, 2}}};
  for (size_t i = 0; i < parts.size(); ++i) {
    const char* const begin = text.data() + places[i][0];
    if (std::from_chars(begin, begin + places[i][1], parts[i]).ptr != begin + places[i][1]) return 0;
  }
  using namespace std::chrono;
  const year_month_day date = year(parts[0]) / parts[1] / parts[2];
  if (!date.ok()) return 0;
  return sys_days(date).time_since_epoch() / seconds(1) + parts[3] * 3600 + parts[4] * 60 + parts[5];
}

class TmxUnits : public XmlEvents {
 public:
  TmxUnits(const DocumentSettings& settings, const TakeTranslated& take)
      : settings_(settings), from_(settings.from), take_(take) {}

  void start(std::string_view name, const std::vector<XmlStreamAttribute>& attributes) override {
    if (code_depth_ > 0 || (in_segment_ && name != "hi")) {
      ++code_depth_;  // a code, with everything inside
    } else if (name == "header") {
      if (from_.empty()) from_ = value_of("srclang", attributes);
      if (from_.empty() || from_ == "*all*")
        throw Error("{}: the file does not specify one source language: give the language (from)",
                    settings_.name);
    } else if (name == "tu") {
      variants_.clear();
      changed_ = time_of(attributes);
    } else if (name == "tuv") {
      variants_.push_back({value_of("lang", attributes), ""});
      changed_ = std::max(changed_, time_of(attributes));
    } else if (name == "seg" && !variants_.empty()) {
      in_segment_ = true;
    }
  }

  void end(std::string_view name) override {
    if (code_depth_ > 0)
      --code_depth_;
    else if (name == "seg")
      in_segment_ = false;
    else if (name == "tu")
      finish_unit();
  }

  void text(std::string_view text) override {
    if (in_segment_ && code_depth_ == 0) variants_.back().text += text;
  }

 private:
  struct Variant {
    std::string language, text;
  };

  static int64_t time_of(const std::vector<XmlStreamAttribute>& attributes) {
    return std::max(tmx_time(value_of("changedate", attributes)),
                    tmx_time(value_of("creationdate", attributes)));
  }

  // That of the very language, else the first whose code begins alike, else the first that has another code of it.
  const Variant* variant(std::string_view language) const {
    const Variant *alike = nullptr, *other_code = nullptr;
    for (const Variant& variant : variants_) {
      if (variant.language == language) return &variant;
      if (alike != nullptr) continue;
      if (same_primary_subtag(variant.language, language))
        alike = &variant;
      else if (other_code == nullptr && same_language(variant.language, language))
        other_code = &variant;
    }
    return alike != nullptr ? alike : other_code;
  }

  void finish_unit() {
    const Variant* const source = variant(from_);
    const Variant* const target = variant(settings_.to);
    if (source == nullptr || target == nullptr || source == target) return;
    take_trimmed({source->text, target->text, changed_}, take_);
  }

  const DocumentSettings& settings_;
  std::string from_;
  const TakeTranslated& take_;
  std::vector<Variant> variants_;
  int64_t changed_ = 0;
  bool in_segment_ = false;
  int code_depth_ = 0;
};

}  // namespace

void read_translated_tmx(ByteSource& bytes, const DocumentSettings& settings, const TakeTranslated& take) {
  if (settings.to.empty())
    throw Error("{}: a TMX file does not specify a target language: give the language (to)", settings.name);
  TmxUnits units(settings, take);
  stream_xml(bytes, settings, units);
}

}  // namespace dragoman::internal
