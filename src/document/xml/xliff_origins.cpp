#include "document/xml/xliff_origins.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

using OriginKind = TranslationOrigin::Kind;
using Origins = std::span<const TranslationOrigin>;

// Around a place's number. No XML file has these characters, and escape_xml writes none.
constexpr char place_begin = '\3', place_end = '\4';

// Of the segment that needs a look most.
OriginKind kind_of(const XliffTranslation& translation, Origins origins) {
  OriginKind kind = OriginKind::copied;
  if (!origins.empty())
    for (const TranslationOrigin& origin : origins.subspan(translation.first, translation.count))
      kind = std::max(kind, origin.kind);
  return kind;
}

// None of a translation that several segments of the document make up: they are similar to parts of it only.
std::vector<TranslationOrigin::Match> matches_of(const XliffTranslation& translation, Origins origins) {
  if (origins.empty() || translation.count != 1) return {};
  return origins[translation.first].matches;
}

// Rounded down: only what is the same is 100 % similar.
int percent(const TranslationOrigin::Match& match) { return static_cast<int>(match.similarity * 100 + 1e-9); }

// As version 1.2 calls it.
std::string qualifier_of(OriginKind kind) {
  return kind == OriginKind::confirmed ? "exact-match"
         : kind == OriginKind::similar ? "fuzzy-match"
                                       : "mt-suggestion";
}

std::string texts_of(const TranslationOrigin::Match& match, const std::string& prefix) {
  return fmt::format("<{0}source>{1}</{0}source><{0}target>{2}</{0}target>", prefix, escape_xml(match.source),
                     escape_xml(match.target));
}

}  // namespace

std::string XliffOrigins::written_target_tag(const Place& place, Origins origins) {
  const OriginKind kind = kind_of(place.translations[0], origins);
  std::string tag = with_xml_attribute(
      place.tag, "state", kind == OriginKind::confirmed ? "translated" : "needs-review-translation");
  if (kind == OriginKind::copied) return tag;
  return with_xml_attribute(tag, "state-qualifier", qualifier_of(kind));
}

std::string XliffOrigins::written_alternatives(const Place& place, Origins origins) {
  const XliffTranslation& translation = place.translations[0];
  std::string elements;
  for (const TranslationOrigin::Match& match : matches_of(translation, origins))
    elements += fmt::format("{0}<{1}alt-trans match-quality=\"{2}\" origin=\"memory\">{3}</{1}alt-trans>",
                            translation.indentation, translation.prefix, percent(match),
                            texts_of(match, translation.prefix));
  return elements;
}

// Version 2 has no state between "initial" and "translated", which other programs take for confirmed.
std::string XliffOrigins::written_segment_tag(const Place& place, Origins origins) {
  const OriginKind kind = kind_of(place.translations[0], origins);
  const bool needs_review = kind > OriginKind::confirmed;
  std::string tag = with_xml_attribute(place.tag, "state", needs_review ? "initial" : "translated");
  if (kind == OriginKind::copied) return tag;
  return with_xml_attribute(tag, "subState", "dragoman:" + qualifier_of(kind));
}

// A match names the segment that it is similar to, which must have an id for that.
std::string XliffOrigins::written_matches(const Place& place, Origins origins) {
  std::string matches;
  for (const XliffTranslation& translation : place.translations) {
    if (translation.id.empty()) continue;
    const std::string indentation = translation.indentation.empty() ? "" : translation.indentation + "  ";
    for (const TranslationOrigin::Match& match : matches_of(translation, origins))
      matches += fmt::format(
          "{0}<mtc:match ref=\"#{1}\" similarity=\"{2}\" matchQuality=\"{2}\" "
          "origin=\"memory\">{3}</mtc:match>",
          indentation, escape_xml_attribute(translation.id), percent(match),
          texts_of(match, translation.prefix));
  }
  if (matches.empty()) return "";
  const std::string& indentation = place.translations[0].indentation;
  return fmt::format(
      "{0}<mtc:matches xmlns:mtc=\"urn:oasis:names:tc:xliff:matches:2.0\">{1}{0}</mtc:matches>", indentation,
      matches);
}

std::string XliffOrigins::add(Place place) {
  places_.push_back(std::move(place));
  return fmt::format("{}{}{}", place_begin, places_.size() - 1, place_end);
}

std::string XliffOrigins::target_tag(std::string tag, XliffTranslation translation) {
  return add({written_target_tag, std::move(tag), {std::move(translation)}});
}

std::string XliffOrigins::alternatives(XliffTranslation translation) {
  return add({written_alternatives, "", {std::move(translation)}});
}

std::string XliffOrigins::segment_tag(std::string tag, XliffTranslation translation) {
  return add({written_segment_tag, std::move(tag), {std::move(translation)}});
}

std::string XliffOrigins::matches(std::vector<XliffTranslation> of_unit) {
  return add({written_matches, "", std::move(of_unit)});
}

Document XliffOrigins::finish(Document document) && {
  return document_with_origins(
      std::move(document.segments), [write = std::move(document.write), places = std::move(places_)](
                                        std::span<const std::string> rendered, Origins origins) {
        const std::string marked = write(rendered);
        std::string file;
        for (size_t at = 0; at < marked.size();) {
          const size_t begin = std::min(marked.find(place_begin, at), marked.size());
          file.append(marked, at, begin - at);
          if (begin == marked.size()) break;
          const size_t end = marked.find(place_end, begin);
          const Place& place = places.at(std::stoul(marked.substr(begin + 1, end - begin - 1)));
          file += place.write(place, origins);
          at = end + 1;
        }
        return file;
      });
}

}  // namespace dragoman::internal
