// Diagrams of boxes and arrows, which read from the top to the bottom.
#pragma once

#include <string>
#include <string_view>

#include "report/svg.h"

namespace dragoman::internal {

// What a box computes, which decides its colour.
enum class BoxKind { embedding, attention, feed_forward, norm, linear, plain };

// A rectangle, by its centre's column and its upper edge.
struct Box {
  double x, top, width, height;

  Point upper() const { return {x, top}; }
  Point lower() const { return {x, top + height}; }
  Point left() const { return {x - width / 2, top + height / 2}; }
  Point right() const { return {x + width / 2, top + height / 2}; }
};

// An empty diagram; and its file, which ends a little below `bottom`.
Svg diagram(double width, std::string_view title);
std::string finished(Svg&, double bottom, std::string_view title);

void add_box(Svg&, const Box&, BoxKind kind, std::string_view text);
void add_frame(Svg&, const Box&, std::string_view text);  // around boxes; its text is at the upper left
void add_arrow(Svg&, const std::vector<Point>& path);     // its head is at the end

// A column in which each element is below the last and joined to it by an arrow.
class Column {
 public:
  Column(Svg& svg, double x, double top, double width);

  void text(std::string_view text);  // what enters or leaves
  Box box(BoxKind kind, std::string_view text);
  // A residual connection: branch() marks where it leaves the column, sum() where it is added.
  void branch();
  void sum();

  double x() const { return x_; }
  double bottom() const { return y_; }  // of the last element

 private:
  void arrow_to(double y);

  Svg& svg_;
  double x_, y_, width_;
  double branch_ = 0;
  bool empty_ = true;
};

// Of an element, and of the arrow to it.
constexpr double box_height = 34, arrow_length = 24;

}  // namespace dragoman::internal
