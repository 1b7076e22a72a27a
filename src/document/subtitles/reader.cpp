#include <algorithm>

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "document/readers.h"
#include "document/segments/inline_text.h"
#include "document/subtitles/cues.h"
#include "document/subtitles/lines.h"
#include "document/utf16.h"
#include "text/sentence_rules.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// Limits for joining a sentence: a file without punctuation would become one segment.
constexpr size_t max_cues = 8, max_lines = 16, max_joined_bytes = 4000;
constexpr double max_pause = 3;  // seconds

bool is_lower_or_ellipsis(std::string_view text) {
  if (text.starts_with("...") || text.starts_with("…")) return true;
  UChar32 c = -1;
  size_t next = 0;
  if (!text.empty()) U8_NEXT(text.data(), next, text.size(), c);
  return c >= 0 && u_islower(c);
}

class SentenceEnds {
 public:
  explicit SentenceEnds(std::string_view language) : rules_(SentenceRules::of(language)) {}

  // Whether a sentence ends between two lines.
  bool between(std::string_view left, std::string_view right) const {
    if (!ends_with_sentence_mark(left)) return false;
    const std::string_view words = without_closers(left);
    if (words.ends_with("...") || words.ends_with("…")) return !is_lower_or_ellipsis(right);
    return !rules_.join(left, right);
  }

 private:
  const SentenceRules& rules_;
};

class Subtitles {
 public:
  Subtitles(std::string_view file, const DocumentSettings& settings, bool is_vtt)
      : file_(file), is_vtt_(is_vtt), ends_(settings.from) {}

  Document read(const std::vector<Cue>& cues) && {
    for (size_t i = 0; i < cues.size(); ++i) {
      if (i > 0 && cues[i].begin - cues[i - 1].end > max_pause) finish_segment();
      if (++cues_ > max_cues) finish_segment();
      for (const TextSpan line : cues[i].lines)
        for (SubtitleStretch& stretch : stretches_of(file_, line, is_vtt_)) add(std::move(stretch));
    }
    finish_segment();
    document_.keep(file_.substr(written_));
    return std::move(document_).finish();
  }

 private:
  void add(SubtitleStretch stretch) {
    const std::string text = plain_text(stretch.run);
    const bool other_voice = !stretch.voice.empty() && stretch.voice != voice_;
    if (!stretch.voice.empty()) voice_ = stretch.voice;
    if (stretch.begins || other_voice || runs_.size() == max_lines ||
        bytes_ + text.size() > max_joined_bytes ||
        (!runs_.empty() && (runs_.back().unpaired || ends_.between(text_, text))))
      finish_segment();
    if (runs_.empty()) {
      cues_ = 1;
      bytes_ = 0;
    }
    bytes_ += text.size();
    runs_.push_back(std::move(stretch.run));
    text_ = text;
    if (stretch.ends) finish_segment();
  }

  void finish_segment() {
    if (runs_.empty()) return;
    DocumentSegment segment = joined(runs_, file_, is_vtt_ ? escape_markup : nullptr);
    document_.keep(file_.substr(written_, runs_.front().place.begin - written_));
    written_ = runs_.back().place.end;
    if (has_letters(segment.text)) {
      document_.add(std::move(segment));
    } else {
      document_.keep(segment.original);
    }
    runs_.clear();
  }

  std::string_view file_;
  bool is_vtt_;
  SentenceEnds ends_;
  FlatDocument document_;
  size_t written_ = 0;  // of the file
  // The segment that is being read.
  std::vector<InlineRun> runs_;
  std::string text_;   // of the last run
  std::string voice_;  // whose it is
  size_t cues_ = 0, bytes_ = 0;
};

Document read_subtitles(std::string_view bytes, const DocumentSettings& settings, bool is_vtt) {
  return read_after_mark(bytes, [&](std::string_view file) {
    return Subtitles(file, settings, is_vtt).read((is_vtt ? vtt_cues : srt_cues)(file, settings));
  });
}

}  // namespace

Document read_srt(std::string_view bytes, const DocumentSettings& settings) {
  return read_unicode(bytes, settings, [](std::string_view utf8, const DocumentSettings& of) {
    return read_subtitles(utf8, of, false);
  });
}

Document read_vtt(std::string_view bytes, const DocumentSettings& settings) {
  return read_unicode(bytes, settings, [](std::string_view utf8, const DocumentSettings& of) {
    return read_subtitles(utf8, of, true);
  });
}

}  // namespace dragoman::internal
