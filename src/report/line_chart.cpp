#include <algorithm>

#include "base/error.h"
#include "report/numbers.h"
#include "report/plot.h"

namespace dragoman::internal {
namespace {

// The axes, and the pixels of their ends.
struct Frame {
  Axis x, y;
  double left = 72, top = 74, right = 660, bottom = 372;

  Point place(Point p) const {
    return {left + (p.x - x.min) / (x.max - x.min) * (right - left),
            bottom - (p.y - y.min) / (y.max - y.min) * (bottom - top)};
  }
};

Frame frame_of(const LineChart& chart) {
  CHECK(!chart.curves.empty() && !chart.curves[0].points.empty(), "nothing to draw");
  Point low = chart.curves[0].points[0], high = low;
  for (const ChartCurve& curve : chart.curves) {
    for (const Point& p : curve.points) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
  }
  return {.x = round_axis(low.x, high.x, 12), .y = round_axis(low.y, high.y, 9)};
}

void add_axes(Svg& svg, const Frame& frame, const LineChart& chart) {
  for (const double tick : ticks(frame.y)) {
    const double y = frame.place({frame.x.min, tick}).y;
    add_line(svg, {frame.left, y}, {frame.right, y}, "grid");
    add_text(svg, {frame.left - 8, y + 4}, Anchor::end, "small", tick_label(frame.y, tick));
  }
  for (const double tick : ticks(frame.x)) {
    const double x = frame.place({tick, frame.y.min}).x;
    add_line(svg, {x, frame.bottom}, {x, frame.bottom + 5}, "axis");
    add_text(svg, {x, frame.bottom + 20}, Anchor::middle, "small", tick_label(frame.x, tick));
  }
  add_line(svg, {frame.left, frame.bottom}, {frame.right, frame.bottom}, "axis");
  add_text(svg, {(frame.left + frame.right) / 2, frame.bottom + 42}, Anchor::middle, "", chart.x_title);
  add_text(svg, {16, frame.top - 18}, Anchor::start, "", chart.y_title);
}

void add_legend(Svg& svg, const Frame& frame, const std::vector<ChartCurve>& curves) {
  double y = frame.top + 4;
  for (size_t i = 0; i < curves.size(); ++i, y += 24) {
    const double x = frame.right + 20;
    add_curve(svg, {{x, y}, {x + 34, y}}, curve_colour(i), curve_dashes(i));
    add_text(svg, {x + 42, y + 4}, Anchor::start, "", curves[i].name);
  }
}

}  // namespace

std::string svg(const LineChart& chart) {
  size_t longest_name = 0;
  for (const ChartCurve& curve : chart.curves) longest_name = std::max(longest_name, curve.name.size());
  const Frame frame = frame_of(chart);
  const double curves = static_cast<double>(chart.curves.size());
  Svg svg = {.width = frame.right + 76 + 7.5 * static_cast<double>(longest_name),
             .height = std::max(430.0, frame.top + 24 * curves + 20)};
  add_text(svg, {16, 30}, Anchor::start, "title", chart.title);
  add_axes(svg, frame, chart);
  for (size_t i = 0; i < chart.curves.size(); ++i) {
    std::vector<Point> points;
    for (const Point& p : chart.curves[i].points) points.push_back(frame.place(p));
    add_curve(svg, points, curve_colour(i), curve_dashes(i));
  }
  add_legend(svg, frame, chart.curves);
  return svg_file(svg, chart.title);
}

}  // namespace dragoman::internal
