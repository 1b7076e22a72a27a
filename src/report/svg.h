// The text of an SVG figure, element by element, in pixels from the top left.
//
// A figure stands by itself: it paints its background, and follows the reader's choice of light or dark. What is of
// neither colour names a class of the style sheet in svg.cpp: "title", "small", "grid", "axis", "gap" (of the
// background); "light" and "dark" for text on a colour.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct Point {
  double x, y;
};

struct Svg {
  double width, height;
  std::string elements = {};
};

enum class Anchor { start, middle, end };

// Text on its baseline; any characters may stand in it.
void add_text(Svg&, Point at, Anchor, std::string_view css_class, std::string_view text);
void add_line(Svg&, Point from, Point to, std::string_view css_class);
// dashes: lengths of ink and gap in turn, "8 4"; nothing for a whole line.
void add_curve(Svg&, const std::vector<Point>&, std::string_view colour, std::string_view dashes);
void add_rectangle(Svg&, Point corner, double width, double height, std::string_view fill);

// The whole file. The title is what a screen reader says.
std::string svg_file(const Svg&, std::string_view title);

// As text or between the quotes of an attribute.
std::string escaped(std::string_view text);

// Colours of curves, told apart by readers of every kind of sight, and on light and dark.
std::string_view curve_colour(size_t number);
std::string_view curve_dashes(size_t number);

}  // namespace dragoman
