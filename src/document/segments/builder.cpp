#include "document/segments/builder.h"

#include <algorithm>

#include "base/error.h"
#include "document/segments/separators.h"

namespace dragoman::internal {
namespace {

// Of a segment, so that its marks take bounded memory even in files of only tags.
constexpr size_t max_items = 65536, max_open_spans = 100;
constexpr size_t max_tag_attributes = 1000;

constexpr std::string_view white_characters = " \t\n\f\r";

size_t find_or_end(std::string_view text, std::string_view characters, size_t from) {
  return std::min(text.find_first_of(characters, from), text.size());
}

size_t skip(std::string_view text, std::string_view characters, size_t from) {
  return std::min(text.find_first_not_of(characters, from), text.size());
}

}  // namespace

std::vector<MarkupAttribute> attributes(std::string_view tag) {
  std::vector<MarkupAttribute> found;
  if (tag.ends_with('>')) tag.remove_suffix(1);
  size_t at = find_or_end(tag, " \t\n\f\r/", 0);
  while (found.size() < max_tag_attributes) {
    const size_t begin = skip(tag, " \t\n\f\r/", at);
    if (begin == tag.size()) break;
    at = find_or_end(tag, " \t\n\f\r/=", begin + 1);  // a name may begin with =
    MarkupAttribute attribute = {.name = tag.substr(begin, at - begin)};
    const size_t equals = skip(tag, white_characters, at);
    if (equals < tag.size() && tag[equals] == '=') {
      size_t value = skip(tag, white_characters, equals + 1);
      if (value < tag.size() && (tag[value] == '"' || tag[value] == '\'')) {
        attribute.quote = tag[value++];
        at = std::min(tag.find(attribute.quote, value), tag.size());
      } else {
        at = find_or_end(tag, white_characters, value);
      }
      attribute.value = {value, at};
      at += attribute.quote != 0 && at < tag.size() ? 1 : 0;
    }
    found.push_back(attribute);
  }
  return found;
}

size_t SegmentBuilder::add(MarkupItem::Kind kind, std::string_view bytes, std::string_view shown) {
  if (frames_.back().stretch.items.size() >= max_items) end_segment();
  MarkupStretch& stretch = frames_.back().stretch;
  MarkupItem item = {.kind = kind, .bytes = {stretch.bytes.size(), 0}, .shown = {stretch.shown.size(), 0}};
  stretch.bytes += bytes;
  stretch.shown += shown;
  item.bytes.end = stretch.bytes.size();
  item.shown.end = stretch.shown.size();
  stretch.items.push_back(item);
  return stretch.items.size() - 1;
}

void SegmentBuilder::text(std::string_view literal) {
  const auto is_white = [&](size_t at) {
    return white_characters.find(literal[at]) != white_characters.npos;
  };
  size_t begin = 0;
  for (size_t at = 0; at < literal.size(); ++at) {
    const size_t end = at + separator_at(literal.substr(at));
    if (end == at || (at > 0 && !is_white(at - 1)) || (end < literal.size() && !is_white(end))) continue;
    if (at > begin) add(MarkupItem::Kind::text, literal.substr(begin, at - begin));
    add(MarkupItem::Kind::text, literal.substr(at, end - at));
    begin = end;
    at = end - 1;
  }
  if (begin < literal.size()) add(MarkupItem::Kind::text, literal.substr(begin));
}

void SegmentBuilder::text(std::string_view bytes, std::string_view decoded) {
  add(MarkupItem::Kind::reference, bytes, decoded);
}

void SegmentBuilder::open(std::string_view bytes, std::string_view name) {
  const size_t item = add(MarkupItem::Kind::open, bytes, name);
  if (frames_.back().open.size() < max_open_spans) frames_.back().open.push_back(item);
}

void SegmentBuilder::close(std::string_view bytes, std::string_view name, std::string_view written) {
  const size_t item = add(MarkupItem::Kind::close, bytes, name);
  Frame& frame = frames_.back();
  std::vector<MarkupItem>& items = frame.stretch.items;
  for (size_t i = frame.open.size(); i-- > 0;) {
    const size_t other = frame.open[i];
    if (frame.stretch.shown_of(items[other]) != name) continue;
    items[item].partner = other;
    items[other].partner = item;
    if (!written.empty()) {
      items[item].written = items[other].written = frame.stretch.written.size();
      frame.stretch.written.emplace_back(written);
    }
    frame.open.resize(i);
    return;
  }
}

void SegmentBuilder::point(std::string_view bytes) { add(MarkupItem::Kind::point, bytes); }

void SegmentBuilder::line_break(std::string_view bytes) { add(MarkupItem::Kind::point, bytes, " "); }

void SegmentBuilder::fixed(std::string_view bytes, std::string_view shown) {
  add(MarkupItem::Kind::fixed, bytes, fixed_words(shown));
}

void SegmentBuilder::border(std::string_view bytes) {
  end_segment();
  frames_.back().out += bytes;
}

void SegmentBuilder::set_white_space(WhiteSpace white_space) { settings_.rules.white_space = white_space; }

void SegmentBuilder::set_escape(std::string (*escape)(std::string_view)) { settings_.escape = escape; }

void SegmentBuilder::begin_nested() { frames_.emplace_back(); }

void SegmentBuilder::end_nested(std::optional<std::string_view> shown) {
  end_segment();
  CHECK(frames_.size() > 1);
  const std::string bytes = std::move(frames_.back().out);
  frames_.pop_back();
  if (shown)
    fixed(bytes, *shown);
  else
    point(bytes);
}

std::string SegmentBuilder::attribute(std::string_view bytes, std::string_view decoded,
                                      std::string (*escape)(std::string_view)) {
  const TextSpan outer = trimmed(bytes);
  const std::string text = collapsed(decoded);
  if (!has_letters(text)) return std::string(bytes);
  const std::string_view original = outer.of(bytes);
  return std::string(bytes.substr(0, outer.begin)) +
         document_.nest({.text = text, .original = std::string(original), .escape = escape}) +
         std::string(bytes.substr(outer.end));
}

void SegmentBuilder::end_segment() {
  auto& [out, stretch, open] = frames_.back();
  size_t begin = 0, written = 0;
  std::vector<size_t> ends = separators_in(stretch);
  ends.push_back(stretch.items.size());
  for (const size_t end : ends) {
    if (auto found = segment_in(stretch, {begin, end}, settings_.rules)) {
      found->segment.escape = settings_.escape;
      found->segment.compose = settings_.compose;
      out += std::string_view(stretch.bytes).substr(written, found->place.begin - written);
      out += document_.nest(std::move(found->segment));
      written = found->place.end;
    }
    begin = end + 1;
  }
  out += std::string_view(stretch.bytes).substr(written);
  stretch.clear();
  open.clear();
}

Document SegmentBuilder::finish() && {
  CHECK(frames_.size() == 1, "{} segments are open", frames_.size() - 1);
  end_segment();
  document_.keep(frames_.back().out);
  return std::move(document_).finish();
}

}  // namespace dragoman::internal
