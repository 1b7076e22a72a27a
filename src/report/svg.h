// Writes SVG files, element by element, in pixels from the top left.
//
// A file is self-contained: it paints its background and follows the reader's light or dark colour scheme. css_class
// is one or more classes of the style sheet in svg.cpp: "title", "small", "number", "grid", "axis", "gap" (in the
// background's colour); "light" or "dark" for text on a coloured background.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

struct Point {
  double x, y;
};

struct Svg {
  double width, height;
  std::string elements = {};
  std::string style = {};  // further rules, as CSS
};

enum class Anchor { start, middle, end };

// Text at its baseline, escaped.
void add_text(Svg&, Point at, Anchor, std::string_view css_class, std::string_view text);
// Text that reads upwards.
void add_upright_text(Svg&, Point at, Anchor, std::string_view css_class, std::string_view text);
void add_line(Svg&, Point from, Point to, std::string_view css_class);
// dashes: lengths of dashes and gaps, "8 4"; empty for a solid line.
void add_curve(Svg&, const std::vector<Point>&, std::string_view colour, std::string_view dashes);
void add_rectangle(Svg&, Point corner, double width, double height, std::string_view fill);

// The complete file. The title is for screen readers.
std::string svg_file(const Svg&, std::string_view title);

// Escaped for text and for quoted attributes.
std::string escaped(std::string_view text);

// About as wide as the text will be, or slightly more: which font a reader has is not known.
double text_width(std::string_view text, double font_size);
// At most this many characters, the last of them an ellipsis where some are left out.
std::string shortened_text(std::string_view text, size_t characters);

// Colours and dashes that tell curves apart, for colour-blind readers too, on light and dark backgrounds.
std::string_view curve_colour(size_t number);
std::string_view curve_dashes(size_t number);

}  // namespace dragoman::internal
