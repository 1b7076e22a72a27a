#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "report/numbers.h"
#include "report/plot.h"

namespace dragoman::internal {
namespace {

// Viridis: perceptually uniform, in greyscale and for colour-blind readers too.
constexpr int palette[][3] = {{68, 1, 84},    {71, 45, 123}, {59, 82, 139},  {44, 114, 142}, {33, 145, 140},
                              {40, 174, 128}, {94, 201, 98}, {173, 220, 48}, {253, 231, 37}};
constexpr int stops = std::size(palette);
constexpr double room_for_names = 52;
constexpr int levels = 32;  // cells of one colour are drawn as one path, which keeps files small

std::string colour(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (stops - 1);
  const int below = std::min(static_cast<int>(at), stops - 2);
  const auto mixed = [&](int channel) {
    const int low = palette[below][channel], high = palette[below + 1][channel];
    return static_cast<int>(std::lround(low + (at - below) * (high - low)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2));
}

// The layout. Cells are square unless that makes a matrix too high.
struct Frame {
  double width, height;  // of a cell
  double table_width, table_height;
  double left = 64, top = 76, gap = 28;

  Point corner(size_t map) const { return {left + static_cast<double>(map) * (table_width + gap), top}; }
};

Frame frame_of(const HeatMaps& figure) {
  CHECK(!figure.maps.empty() && figure.least < figure.most, "nothing to draw");
  const double columns = static_cast<double>(figure.maps[0].columns),
               rows = static_cast<double>(figure.maps[0].rows);
  const double width = (figure.maps.size() == 1 ? 380 : 240) / columns;
  const double height = std::min(width, 400 / rows);
  return {.width = width,
          .height = height,
          .table_width = width * columns,
          .table_height = height * rows,
          .left = figure.row_names.empty() ? 64 : 64 + room_for_names};
}

int level_of(const HeatMaps& figure, double value) {
  const double share = (value - figure.least) / (figure.most - figure.least);
  return std::clamp(static_cast<int>(std::floor(share * levels)), 0, levels - 1);
}

// One path for each level; adjacent cells of a column are one stroke, as wide as a cell.
void add_cells(Svg& svg, const Frame& frame, const HeatMaps& figure, const HeatMap& map, Point corner) {
  std::vector<std::string> paths(levels);
  for (int64_t column = 0; column < map.columns; ++column) {
    const auto level = [&](int64_t row) {
      return level_of(figure, map.values[static_cast<size_t>(row * map.columns + column)]);
    };
    for (int64_t row = 0, end = 0; row < map.rows; row = end) {
      for (end = row + 1; end < map.rows && level(end) == level(row);) ++end;
      paths[static_cast<size_t>(level(row))] += fmt::format("M{} {}v{}", column, row, end - row);
    }
  }
  svg.elements += fmt::format(
      "<g shape-rendering=\"crispEdges\" transform=\"translate({:.2f} {:.2f}) scale({:.4f} {:.4f})\">\n",
      corner.x + frame.width / 2, corner.y, frame.width, frame.height);
  for (int level = 0; level < levels; ++level) {
    const std::string& path = paths[static_cast<size_t>(level)];
    if (!path.empty())
      svg.elements += fmt::format("<path stroke=\"{}\" d=\"{}\"/>\n", colour(level / (levels - 1.0)), path);
  }
  svg.elements += "</g>\n";
}

// Lines between cells that are large enough.
void add_lines(Svg& svg, const Frame& frame, const HeatMap& map, Point corner) {
  if (std::min(frame.width, frame.height) < 12) return;
  for (int64_t column = 1; column < map.columns; ++column) {
    const double x = corner.x + static_cast<double>(column) * frame.width;
    add_line(svg, {x, corner.y}, {x, corner.y + frame.table_height}, "gap");
  }
  for (int64_t row = 1; row < map.rows; ++row) {
    const double y = corner.y + static_cast<double>(row) * frame.height;
    add_line(svg, {corner.x, y}, {corner.x + frame.table_width, y}, "gap");
  }
}

void add_numbers(Svg& svg, const Frame& frame, const HeatMaps& figure, const HeatMap& map, Point corner) {
  for (int64_t row = 0; row < map.rows; ++row) {
    for (int64_t column = 0; column < map.columns; ++column) {
      const double value = map.values[static_cast<size_t>(row * map.columns + column)];
      const Point middle = {corner.x + (static_cast<double>(column) + 0.5) * frame.width,
                            corner.y + (static_cast<double>(row) + 0.5) * frame.height + 4};
      add_text(svg, middle, Anchor::middle, level_of(figure, value) < levels / 2 ? "light" : "dark",
               fmt::format("{:.2g}", std::abs(value) < 1e-6 ? 0 : value));
    }
  }
}

// Column names are slanted so that long ones do not overlap.
void add_column_names(Svg& svg, const Frame& frame, const HeatMaps& figure, Point corner) {
  for (size_t column = 0; column < figure.column_names.size(); ++column) {
    svg.elements += fmt::format("<g transform=\"translate({:.1f} {:.1f}) rotate(-50)\">",
                                corner.x + (static_cast<double>(column) + 0.5) * frame.width + 4,
                                corner.y + frame.table_height + 12);
    add_text(svg, {0, 0}, Anchor::end, "small", figure.column_names[column]);
    svg.elements += "</g>\n";
  }
}

// The rows or columns to label with their index, so that labels do not overlap.
std::vector<int64_t> labelled(int64_t count, double cell, double apart) {
  const Axis axis = round_axis(0, static_cast<double>(count),
                               std::max(2, static_cast<int>(static_cast<double>(count) * cell / apart)));
  const auto step = std::max<int64_t>(1, std::lround(axis.step));
  std::vector<int64_t> result;
  for (int64_t i = 0; i < count; i += step) result.push_back(i);
  return result;
}

void add_column_numbers(Svg& svg, const Frame& frame, const HeatMap& map, Point corner) {
  for (const int64_t column : labelled(map.columns, frame.width, 22)) {
    const double x = corner.x + (static_cast<double>(column) + 0.5) * frame.width;
    add_text(svg, {x, corner.y + frame.table_height + 17}, Anchor::middle, "small", std::to_string(column));
  }
}

void add_rows(Svg& svg, const Frame& frame, const HeatMaps& figure) {
  for (const int64_t row : labelled(figure.maps[0].rows, frame.height, 16)) {
    const double y = frame.top + (static_cast<double>(row) + 0.5) * frame.height + 4;
    const std::string name =
        figure.row_names.empty() ? std::to_string(row) : figure.row_names[static_cast<size_t>(row)];
    add_text(svg, {frame.left - 7, y}, Anchor::end, "small", name);
  }
}

void add_legend(Svg& svg, const HeatMaps& figure, Point corner) {
  for (const auto& [name, share] : {std::pair(figure.max_name, 1.0), std::pair(figure.min_name, 0.0)}) {
    add_rectangle(svg, corner, 18, 18, colour(share));
    add_text(svg, {corner.x + 26, corner.y + 14}, Anchor::start, "", name);
    corner.y += 28;
  }
}

// The colour scale, with the greatest value at its top.
void add_scale(Svg& svg, const HeatMaps& figure, Point corner, double height) {
  svg.elements += "<linearGradient id=\"scale\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">";
  for (int i = 0; i < stops; ++i) {
    const double share = static_cast<double>(i) / (stops - 1);
    svg.elements += fmt::format("<stop offset=\"{}\" stop-color=\"{}\"/>", share, colour(share));
  }
  svg.elements += "</linearGradient>\n";
  add_rectangle(svg, corner, 16, height, "url(#scale)");
  const Axis axis = round_axis(figure.least, figure.most, 6);
  for (const double tick : ticks(axis)) {
    if (tick < figure.least - 1e-9 || tick > figure.most + 1e-9) continue;
    const double y = corner.y + height * (figure.most - tick) / (figure.most - figure.least);
    add_text(svg, {corner.x + 23, y + 4}, Anchor::start, "small", tick_label(axis, tick));
  }
}

}  // namespace

std::string svg(const HeatMaps& figure) {
  const Frame frame = frame_of(figure);
  const bool named = !figure.max_name.empty();
  const Point legend = {frame.corner(figure.maps.size()).x - 8, frame.top};
  Svg svg = {.width = legend.x + (named ? 170 : 64), .height = frame.top + frame.table_height + 58};
  if (!figure.column_names.empty()) svg.height += room_for_names;
  add_text(svg, {16, 30}, Anchor::start, "title", figure.title);
  add_text(svg, {16, frame.top - 12}, Anchor::start, "", figure.y_title);
  for (size_t i = 0; i < figure.maps.size(); ++i) {
    const HeatMap& map = figure.maps[i];
    const Point corner = frame.corner(i);
    const double middle = corner.x + frame.table_width / 2;
    add_cells(svg, frame, figure, map, corner);
    add_lines(svg, frame, map, corner);
    if (!named && std::min(frame.width, frame.height) >= 30) add_numbers(svg, frame, figure, map, corner);
    if (figure.column_names.empty()) {
      add_column_numbers(svg, frame, map, corner);
    } else {
      add_column_names(svg, frame, figure, corner);
    }
    add_text(svg, {middle, frame.top - 12}, Anchor::middle, "", map.title);
    add_text(svg, {middle, frame.top + frame.table_height + 40}, Anchor::middle, "", figure.x_title);
  }
  add_rows(svg, frame, figure);
  if (named) {
    add_legend(svg, figure, legend);
  } else {
    add_scale(svg, figure, legend, frame.table_height);
  }
  return svg_file(svg, figure.title);
}

}  // namespace dragoman::internal
