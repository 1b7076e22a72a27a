// What an XLIFF file says about where its translations are from: a state for each, and a memory's similar segments.
//
//   XliffOrigins origins;
//   file += origins.target_tag("<target>", translation) + target + "</target>" + origins.alternatives(translation);
//   return std::move(origins).finish(std::move(blocks).finish(file));
//
// In version 1.2 the target has the state, and similar segments are <alt-trans> behind it. In version 2 the segment has
// the state, and similar segments are in its unit, as the standard's module for matches has them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

// A unit's translation in version 1.2, a segment's in version 2.
struct XliffTranslation {
  size_t first = 0, count = 0;  // of the document's segments
  std::string prefix = {};      // of the names of its elements: "x:"
  std::string indentation = {};
  std::string id = {};  // of a segment; may be empty
};

class XliffOrigins {
 public:
  // Each returns a marker to put in its place in the file.
  std::string target_tag(std::string tag, XliffTranslation translation);
  std::string alternatives(XliffTranslation translation);
  std::string segment_tag(std::string tag, XliffTranslation translation);
  std::string matches(std::vector<XliffTranslation> of_unit);

  // The document, whose file has the markers.
  Document finish(Document document) &&;

 private:
  struct Place {
    // Of this place in a file with these origins, which may be none.
    std::string (*write)(const Place& place, std::span<const TranslationOrigin> origins);
    std::string tag;
    std::vector<XliffTranslation> translations;
  };
  static std::string written_target_tag(const Place& place, std::span<const TranslationOrigin> origins);
  static std::string written_alternatives(const Place& place, std::span<const TranslationOrigin> origins);
  static std::string written_segment_tag(const Place& place, std::span<const TranslationOrigin> origins);
  static std::string written_matches(const Place& place, std::span<const TranslationOrigin> origins);

  std::string add(Place place);

  std::vector<Place> places_;
};

}  // namespace dragoman::internal
