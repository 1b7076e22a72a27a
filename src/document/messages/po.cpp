#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "document/encodings.h"
#include "document/messages/message_document.h"
#include "document/messages/po_charset.h"
#include "document/messages/po_entries.h"
#include "document/messages/po_plurals.h"
#include "document/messages/po_strings.h"
#include "document/readers.h"

namespace dragoman::internal {
namespace {

using Grammars = std::vector<const FormatGrammar*>;

// A msgstr that is rewritten. The segments of a plural may be in several.
struct Translation {
  std::string keyword;
  MessageTemplate parts;
  std::string message = {};  // that it translates
};

// What programs expect of the translations of an entry.
struct FormatCheck {
  Grammars grammars = {};
  bool has_unknown = false;  // one whose signs are unknown, too
};

// The file: bytes that stay, and translations after them.
struct Piece {
  std::string kept;
  std::string flags = {};        // a line of an entry's flags, or none
  std::string fuzzy_flags = {};  // the same, if the entry is marked as fuzzy
  std::optional<Translation> translation = {};
  size_t entry = 0;  // of a translation and of its flags
};

struct PoEdit {
  TextSpan place;
  Piece piece;  // instead of it
};

// Of any language.
bool has_signs(std::string_view text) { return text.find_first_of("%{~$<") != text.npos; }

// msgfmt wants line breaks at the ends exactly where the message has them. A translation that is shorter than the lines
// of its message may have others there.
std::string without_other_breaks(std::string value, std::string_view message) {
  constexpr std::string_view line_break = "\\n";
  const auto ends_in_break = [&](std::string_view text) {
    if (!text.ends_with(line_break)) return false;
    const std::string_view before = text.substr(0, text.size() - line_break.size());
    return (before.size() - (before.find_last_not_of('\\') + 1)) % 2 == 0;  // else the backslash is escaped
  };
  if (!message.starts_with(line_break))
    while (value.starts_with(line_break)) value.erase(0, line_break.size());
  if (!message.ends_with(line_break))
    while (ends_in_break(value)) value.resize(value.size() - line_break.size());
  return value;
}

// Writes the translations into the file. Those that a program could not format, and those of an origin that nobody has
// confirmed, are marked as fuzzy, so that gettext does not use them.
class CatalogueWriter {
 public:
  CatalogueWriter(std::vector<Piece> pieces, std::map<size_t, FormatCheck> checks, std::string line_break)
      : pieces_(std::move(pieces)), checks_(std::move(checks)), line_break_(std::move(line_break)) {}

  std::string operator()(std::span<const std::string> rendered,
                         std::span<const TranslationOrigin> origins) const {
    std::vector<std::string> values(pieces_.size());
    std::set<size_t> fuzzy;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (!pieces_[i].translation) continue;
      const Translation& translation = *pieces_[i].translation;
      values[i] = without_other_breaks(translation.parts.with(rendered), translation.message);
      if (!fits(pieces_[i], values[i]) || !is_confirmed(translation.parts, origins))
        fuzzy.insert(pieces_[i].entry);
    }
    std::string file;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      file += piece.kept;
      file += fuzzy.contains(piece.entry) ? piece.fuzzy_flags : piece.flags;
      if (piece.translation) file += po_field(piece.translation->keyword, values[i], line_break_);
    }
    return file;
  }

 private:
  static bool is_confirmed(const MessageTemplate& message, std::span<const TranslationOrigin> origins) {
    return origins.empty() || std::ranges::all_of(message.parts, [&](const MessageTemplate::Part& part) {
             return !part.segment || origins[*part.segment].kind <= TranslationOrigin::Kind::confirmed;
           });
  }

  bool fits(const Piece& piece, std::string& value) const {
    const auto check = checks_.find(piece.entry);
    if (check == checks_.end()) return true;
    if (check->second.has_unknown && has_signs(value)) return false;
    return std::ranges::all_of(check->second.grammars, [&](const FormatGrammar* grammar) {
      std::optional<std::string> ordered =
          with_arguments_in_order(*grammar, piece.translation->message, value);
      if (ordered) value = *std::move(ordered);
      return ordered.has_value();
    });
  }

  std::vector<Piece> pieces_;
  std::map<size_t, FormatCheck> checks_;
  std::string line_break_;
};

class Catalogue {
 public:
  Catalogue(std::string_view file, const DocumentSettings& settings)
      : file_(file),
        to_(settings.to),
        line_break_(file.find("\r\n") != file.npos ? "\r\n" : "\n"),
        mark_unconfirmed_(settings.mark_unconfirmed) {
    const std::vector<PoEntry> entries = po_entries(file, settings);
    const auto header = std::ranges::find_if(entries, &PoEntry::is_header);
    if (header != entries.end()) {
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
    Document document = document_with_origins(
        std::move(segments_), CatalogueWriter(std::move(pieces), std::move(checks_), line_break_));
    if (!mark_unconfirmed_) document.write_with_origins = nullptr;
    return document;
  }

 private:
  void add(const PoEntry& entry) {
    ++entry_;
    const size_t there = entry.translations.size();
    const size_t forms = !entry.has_plural ? 1 : forms_.count > 0 ? forms_.count : std::max(there, size_t{2});
    std::vector<bool> wanted(forms);
    for (size_t form = 0; form < forms; ++form)
      wanted[form] = form >= there || entry.is_fuzzy() || entry.translations[form].value.empty();
    const FormatCheck check = check_of(entry);
    const Grammars& grammars = check.grammars;
    if (!std::ranges::count(wanted, true)) return;
    if (check.has_unknown && (has_signs(entry.id.value) || has_signs(entry.plural_id.value))) return;
    const std::optional<size_t> one = entry.has_plural ? form_of_one(entry, grammars, forms) : 0;
    const bool needs_one = one && wanted[*one];
    const bool needs_others = std::ranges::count(wanted, true) > static_cast<std::ptrdiff_t>(needs_one);
    const auto singular = needs_one ? parts_of(entry.id, grammars) : MessageTemplate();
    const auto plural = needs_others ? parts_of(entry.plural_id, grammars) : MessageTemplate();
    if (!singular.has_segments() && !plural.has_segments()) return;
    // A form without words is written as the message has it: gettext drops an entry that lacks a form.
    for (size_t form = 0; form < forms; ++form)
      if (wanted[form])
        add_translation(entry, form, form == one ? singular : plural,
                        form == one ? entry.id : entry.plural_id);
    for (size_t form = forms; form < there; ++form) remove(entry.translations[form].place);
    if (!grammars.empty() || check.has_unknown) checks_[entry_] = check;
    edit_flags(entry);
  }

  // The languages whose format strings the entry has.
  static FormatCheck check_of(const PoEntry& entry) {
    const std::string& message = entry.has_plural ? entry.plural_id.value : entry.id.value;
    FormatCheck check;
    for (const std::string_view flag : entry.flags) {
      const FormatGrammar* grammar = format_grammar(flag);
      if (grammar != nullptr && directives(*grammar, message)) check.grammars.push_back(grammar);
      check.has_unknown |= grammar == nullptr && flag.ends_with("-format") && !flag.starts_with("no-");
    }
    return check;
  }

  // The form that is translated from the singular: none where a program needs more arguments for it.
  std::optional<size_t> form_of_one(const PoEntry& entry, const Grammars& grammars, size_t forms) const {
    const size_t one = forms_.of_one;
    if (forms == 1) return {};
    const bool often = one < forms_.often.size() && forms_.often[one];
    const std::string_view singular = entry.id.value, plural = entry.plural_id.value;
    const bool fits = std::ranges::all_of(grammars, [&](const FormatGrammar* grammar) {
      return directives(*grammar, singular) && takes_arguments_of(*grammar, singular, plural) &&
             (!often || takes_arguments_of(*grammar, plural, singular));
    });
    return fits ? std::optional(one) : std::nullopt;
  }

  // Without segments if nothing is to be translated: gettext then shows the message itself.
  MessageTemplate parts_of(const PoField& message, const Grammars& grammars) {
    return message_template(
        message_parts(message.value, po_syntax(), {.grammar = grammars.empty() ? nullptr : grammars[0]}),
        segments_);
  }

  void add_translation(const PoEntry& entry, size_t form, const MessageTemplate& parts,
                       const PoField& message) {
    const bool is_there = form < entry.translations.size();
    const size_t end = entry.translations.back().place.end;
    edits_.push_back(
        {.place = is_there ? entry.translations[form].place : TextSpan{end, end},
         .piece = {.kept = is_there ? "" : line_break_,
                   .translation = Translation{entry.has_plural ? fmt::format("msgstr[{}]", form) : "msgstr",
                                              parts, message.value},
                   .entry = entry_}});
  }

  void replace(TextSpan place, std::string bytes) { edits_.push_back({place, {.kept = std::move(bytes)}}); }

  // With its line.
  void remove(TextSpan field) {
    replace({field.begin, std::min(file_.find('\n', field.end), file_.size() - 1) + 1}, "");
  }

  // Takes away the fuzzy flag, and the message that the old translation was made for.
  void edit_flags(const PoEntry& entry) {
    if (!entry.is_fuzzy() && !checks_.contains(entry_) && !mark_unconfirmed_) return;
    if (entry.flag_lines.empty()) {
      const size_t before = entry.previous.empty() ? entry.begin : entry.previous.front().begin;
      edits_.push_back(
          {{before, before}, {.kept = {}, .fuzzy_flags = "#, fuzzy" + line_break_, .entry = entry_}});
    }
    if (entry.is_fuzzy())
      for (const TextSpan line : entry.previous) replace(line, "");
    for (const TextSpan line : entry.flag_lines) {
      const std::string_view bytes = line.of(file_);
      const std::string ending(bytes.substr(trimmed(bytes).end));
      std::string others;
      for (const std::string_view flag : flags_of(bytes))
        if (flag != "fuzzy") others.append(", ").append(flag);
      const bool is_fuzzy = std::ranges::count(flags_of(bytes), "fuzzy") > 0;
      const std::string flags = !is_fuzzy ? std::string(bytes) : others.empty() ? "" : "#" + others + ending;
      const bool is_first = line == entry.flag_lines.front();
      edits_.push_back({line,
                        {.kept = {},
                         .flags = flags,
                         .fuzzy_flags = is_first ? "#, fuzzy" + others + ending : flags,
                         .entry = entry_}});
    }
  }

  // What a template's header leaves open.
  void complete(const PoEntry& header) {
    const TextSpan place = header.translations[0].place;
    const std::string_view bytes = place.of(file_);
    if (const std::string_view name = value_in_header(bytes, "charset=", " ;\\");
        !name.empty() && is_no_charset(name)) {
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
  bool mark_unconfirmed_;
  PluralForms forms_ = {};
  size_t entry_ = 0;  // its number
  std::map<size_t, FormatCheck> checks_ = {};
  std::vector<DocumentSegment> segments_ = {};
  std::vector<PoEdit> edits_ = {};
};

}  // namespace

Document read_po(std::string_view bytes, const DocumentSettings& settings) {
  if (other_charset(bytes) != TextSpan())
    return read_from_other_bytes(Catalogue(po_in_utf8(bytes, settings), settings).document(), bytes);
  check_utf8(bytes, settings);
  return read_after_mark(bytes, [&](std::string_view text) { return Catalogue(text, settings).document(); });
}

}  // namespace dragoman::internal
