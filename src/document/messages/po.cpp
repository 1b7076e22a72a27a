#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "document/messages/po_entries.h"
#include "document/messages/po_strings.h"
#include "document/readers.h"

namespace dragoman::internal {
namespace {

// A msgstr that is rewritten. The segments of a plural may be in several.
struct Translation {
  struct Part {
    std::string kept;
    std::optional<size_t> segment;  // after it
  };
  std::string keyword;
  std::vector<Part> parts;
};

// The file: bytes that stay, and translations after them.
struct Piece {
  std::string kept;
  std::optional<Translation> translation = {};
};

struct PoEdit {
  TextSpan place;
  Piece piece;  // instead of it
};

std::string_view value_in(std::string_view header, std::string_view key) {
  const size_t begin = header.find(key);
  if (begin == header.npos) return {};
  const std::string_view rest = header.substr(begin + key.size());
  return rest.substr(0, rest.find_first_of(" ;\\"));
}

// The number of plural forms; 0 if the header does not specify it.
size_t plural_forms(std::string_view header) {
  const std::string_view value = value_in(header, "nplurals=");
  size_t forms = 0;
  const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), forms);
  return error == std::errc() && forms <= 10 ? forms : 0;
}

bool is_no_charset(std::string_view name) {
  return name.empty() || name == "CHARSET" || name == "ASCII" || name == "US-ASCII";
}

void check_charset(std::string_view header, const DocumentSettings& settings) {
  const std::string_view name = value_in(header, "charset=");
  const auto same = [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 32 : a) == b; };
  if (is_no_charset(name) || std::ranges::equal(name, std::string_view("UTF-8"), same) ||
      std::ranges::equal(name, std::string_view("UTF8"), same))
    return;
  throw Error("{}: its header specifies charset={}: convert it with \"msgconv --to-code=UTF-8\" first",
              settings.name, name);
}

class Catalogue {
 public:
  Catalogue(std::string_view file, const DocumentSettings& settings)
      : file_(file), to_(settings.to), line_break_(file.find("\r\n") != file.npos ? "\r\n" : "\n") {
    const std::vector<PoEntry> entries = po_entries(file, settings);
    const auto header = std::ranges::find_if(entries, &PoEntry::is_header);
    if (header != entries.end()) {
      check_charset(header->translations[0].value, settings);
      forms_ = plural_forms(header->translations[0].value);
    }
    for (const PoEntry& entry : entries)
      if (!entry.is_header()) add(entry);
    if (header != entries.end() && !segments_.empty()) complete(*header);
  }

  Document document() && {
    std::ranges::stable_sort(edits_, {}, [](const PoEdit& edit) { return edit.place.begin; });
    std::vector<Piece> pieces;
    size_t at = 0;
    for (PoEdit& edit : edits_) {
      edit.piece.kept.insert(0, file_.substr(at, edit.place.begin - at));
      pieces.push_back(std::move(edit.piece));
      at = edit.place.end;
    }
    pieces.push_back({std::string(file_.substr(at))});
    const auto write = [pieces = std::move(pieces),
                        line_break = line_break_](std::span<const std::string> rendered) {
      std::string file;
      for (const Piece& piece : pieces) {
        file += piece.kept;
        if (!piece.translation) continue;
        std::string value;
        for (const Translation::Part& part : piece.translation->parts)
          value += part.kept + (part.segment ? rendered[*part.segment] : "");
        file += po_field(piece.translation->keyword, value, line_break);
      }
      return file;
    };
    return {.segments = std::move(segments_), .write = write};
  }

 private:
  void add(const PoEntry& entry) {
    const size_t there = entry.translations.size();
    const size_t forms = !entry.has_plural ? 1 : forms_ > 0 ? forms_ : std::max(there, size_t{2});
    std::vector<bool> wanted(forms);
    for (size_t form = 0; form < forms; ++form)
      wanted[form] = form >= there || entry.is_fuzzy || entry.translations[form].value.empty();
    if (!std::ranges::count(wanted, true)) return;
    const bool needs_singular = !entry.has_plural || (forms > 1 && wanted[0]);
    const auto singular = needs_singular ? parts_of(entry.id) : std::vector<Translation::Part>();
    const bool needs_plural =
        entry.has_plural && std::find(wanted.begin() + (forms > 1), wanted.end(), true) != wanted.end();
    const auto plural = needs_plural ? parts_of(entry.plural_id) : std::vector<Translation::Part>();
    for (size_t form = 0; form < forms; ++form) {
      const auto& parts = needs_singular && form == 0 ? singular : plural;
      if (wanted[form] && !parts.empty()) add_translation(entry, form, parts);
    }
    if (entry.is_fuzzy && !(singular.empty() && plural.empty())) remove_fuzzy(entry);
  }

  // Empty if nothing is to be translated: gettext then shows the message itself.
  std::vector<Translation::Part> parts_of(const PoField& message) {
    std::vector<MessagePart> found = message_parts(message.value, po_syntax(), false);
    if (std::ranges::none_of(found, [](const MessagePart& part) { return part.segment.has_value(); }))
      return {};
    std::vector<Translation::Part> parts;
    for (MessagePart& part : found) {
      parts.push_back({.kept = std::move(part.kept), .segment = {}});
      if (!part.segment) continue;
      parts.back().segment = segments_.size();
      segments_.push_back(*std::move(part.segment));
    }
    return parts;
  }

  void add_translation(const PoEntry& entry, size_t form, const std::vector<Translation::Part>& parts) {
    const bool is_there = form < entry.translations.size();
    const size_t end = entry.translations.back().place.end;
    edits_.push_back({.place = is_there ? entry.translations[form].place : TextSpan{end, end},
                      .piece = {.kept = is_there ? "" : line_break_,
                                .translation = Translation{
                                    entry.has_plural ? fmt::format("msgstr[{}]", form) : "msgstr", parts}}});
  }

  void replace(TextSpan place, std::string bytes) { edits_.push_back({place, {.kept = std::move(bytes)}}); }

  // The fuzzy flag, and the message that the old translation was made for.
  void remove_fuzzy(const PoEntry& entry) {
    for (const TextSpan line : entry.previous) replace(line, "");
    for (const TextSpan line : entry.flags) {
      std::string_view bytes = line.of(file_);
      const std::string_view ending = bytes.substr(trimmed(bytes).end);
      bytes.remove_suffix(ending.size());
      bytes.remove_prefix(bytes.find(',') + 1);
      std::string others;
      while (!bytes.empty()) {
        const size_t end = std::min(bytes.find(','), bytes.size());
        const TextSpan name = trimmed(bytes.substr(0, end));
        const std::string_view flag = name.of(bytes);
        if (flag != "fuzzy" && !flag.empty()) others.append(", ").append(flag);
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
      }
      replace(line, others.empty() ? "" : "#" + others + std::string(ending));
    }
  }

  // What a template's header leaves open.
  void complete(const PoEntry& header) {
    const TextSpan place = header.translations[0].place;
    const std::string_view bytes = place.of(file_);
    if (const std::string_view name = value_in(bytes, "charset="); !name.empty() && is_no_charset(name)) {
      const auto begin = static_cast<size_t>(name.data() - file_.data());
      replace({begin, begin + name.size()}, "UTF-8");
    }
    for (const std::string_view before : {"\"", "\\n"}) {
      const std::string key = std::string(before) + "Language:";
      const size_t found = bytes.find(key);
      if (to_.empty() || found == bytes.npos) continue;
      const size_t begin = found + key.size();
      const size_t end = std::min(bytes.find_first_not_of(" \t", begin), bytes.size());
      if (bytes.substr(end).starts_with("\\n")) replace({place.begin + begin, place.begin + end}, " " + to_);
      return;
    }
  }

  std::string_view file_;
  std::string to_, line_break_;
  size_t forms_ = 0;
  std::vector<DocumentSegment> segments_ = {};
  std::vector<PoEdit> edits_ = {};
};

}  // namespace

Document read_po(std::string_view bytes, const DocumentSettings& settings) {
  check_utf8(bytes, settings);
  if (!bytes.starts_with(byte_order_mark)) return Catalogue(bytes, settings).document();
  Document document = Catalogue(bytes.substr(byte_order_mark.size()), settings).document();
  document.write = [write = std::move(document.write)](std::span<const std::string> rendered) {
    return std::string(byte_order_mark) + write(rendered);
  };
  return document;
}

}  // namespace dragoman::internal
