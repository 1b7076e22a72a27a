// Heat maps as SVG files, which need no script: figures for papers, with the numbers in their cells. On the page of
// `dragoman inspect` a canvas that answers the pointer shows them: HeatMap in web/inspect.js. Both use the colours of
// colour_scale.h.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/colour_scale.h"
#include "report/heat_map_layout.h"
#include "report/numbers.h"
#include "report/plot.h"

namespace dragoman::internal {
namespace {

constexpr int levels = 32;  // cells of one colour are drawn as one path, which keeps files small

double share_of(const HeatMaps& figure, double value) {
  const double share = std::clamp((value - figure.min) / (figure.max - figure.min), 0.0, 1.0);
  return figure.square_root ? std::sqrt(share) : share;
}

int level_of(const HeatMaps& figure, double value) {
  return std::min(static_cast<int>(share_of(figure, value) * levels), levels - 1);
}

// One path for each level; adjacent cells of a column are one stroke, as wide as a cell.
void add_cells(Svg& svg, const HeatMapLayout& layout, const HeatMaps& figure, const HeatMap& map,
               Point corner) {
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
      corner.x + layout.cell_width / 2, corner.y, layout.cell_width, layout.cell_height);
  for (int level = 0; level < levels; ++level) {
    const std::string& path = paths[static_cast<size_t>(level)];
    if (!path.empty())
      svg.elements +=
          fmt::format("<path stroke=\"{}\" d=\"{}\"/>\n", scale_colour(level / (levels - 1.0)), path);
  }
  svg.elements += "</g>\n";
}

// Lines between cells that are large enough.
void add_lines(Svg& svg, const HeatMapLayout& layout, const HeatMap& map, Point corner) {
  if (std::min(layout.cell_width, layout.cell_height) < 12) return;
  for (int64_t column = 1; column < map.columns; ++column) {
    const double x = corner.x + static_cast<double>(column) * layout.cell_width;
    add_line(svg, {x, corner.y}, {x, corner.y + layout.table_height}, "gap");
  }
  for (int64_t row = 1; row < map.rows; ++row) {
    const double y = corner.y + static_cast<double>(row) * layout.cell_height;
    add_line(svg, {corner.x, y}, {corner.x + layout.table_width, y}, "gap");
  }
}

// Where a cell is large enough, and the number is.
void add_numbers(Svg& svg, const HeatMapLayout& layout, const HeatMaps& figure, const HeatMap& map,
                 Point corner) {
  if (layout.cell_height < 16) return;
  for (int64_t row = 0; row < map.rows; ++row) {
    for (int64_t column = 0; column < map.columns; ++column) {
      const double value = map.values[static_cast<size_t>(row * map.columns + column)];
      const std::string number = fmt::format("{:.2f}", rounded(value, 2) + 0.0);  // + 0: no -0.00
      if (value < figure.min_number || text_width(number, 10) > layout.cell_width) continue;
      const Point middle = {corner.x + (static_cast<double>(column) + 0.5) * layout.cell_width,
                            corner.y + (static_cast<double>(row) + 0.5) * layout.cell_height + 3.5};
      add_text(svg, middle, Anchor::middle,
               level_of(figure, value) < levels / 2 ? "number light" : "number dark", number);
    }
  }
}

void add_column_names(Svg& svg, const HeatMapLayout& layout, const HeatMaps& figure, Point corner) {
  for (size_t column = 0; column < figure.column_names.size(); ++column) {
    const double middle = corner.x + (static_cast<double>(column) + 0.5) * layout.cell_width;
    add_upright_text(svg, {middle + 0.36 * layout.name_size, corner.y + layout.table_height + 7}, Anchor::end,
                     "name", figure.column_names[column]);
  }
}

void add_row_names(Svg& svg, const HeatMapLayout& layout, const HeatMaps& figure, Point corner) {
  for (size_t row = 0; row < figure.row_names.size(); ++row) {
    const double middle = corner.y + (static_cast<double>(row) + 0.5) * layout.cell_height;
    add_text(svg, {corner.x - 7, middle + 0.36 * layout.name_size}, Anchor::end, "name",
             figure.row_names[row]);
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

void add_column_numbers(Svg& svg, const HeatMapLayout& layout, const HeatMap& map, Point corner) {
  for (const int64_t column : labelled(map.columns, layout.cell_width, 22)) {
    const double x = corner.x + (static_cast<double>(column) + 0.5) * layout.cell_width;
    add_text(svg, {x, corner.y + layout.table_height + 17}, Anchor::middle, "small", std::to_string(column));
  }
}

void add_row_numbers(Svg& svg, const HeatMapLayout& layout, const HeatMap& map, Point corner) {
  for (const int64_t row : labelled(map.rows, layout.cell_height, 16)) {
    const double y = corner.y + (static_cast<double>(row) + 0.5) * layout.cell_height + 4;
    add_text(svg, {corner.x - 7, y}, Anchor::end, "small", std::to_string(row));
  }
}

void add_legend(Svg& svg, const HeatMaps& figure, Point corner) {
  for (const auto& [name, share] : {std::pair(figure.max_name, 1.0), std::pair(figure.min_name, 0.0)}) {
    add_rectangle(svg, corner, 18, 18, scale_colour(share));
    add_text(svg, {corner.x + 26, corner.y + 14}, Anchor::start, "", name);
    corner.y += 28;
  }
}

// The colour scale, with the greatest value at its top.
void add_scale(Svg& svg, const HeatMaps& figure, Point corner, double height) {
  constexpr int stops = 9;
  svg.elements += "<linearGradient id=\"scale\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">";
  for (int i = 0; i < stops; ++i) {
    const double share = static_cast<double>(i) / (stops - 1);
    svg.elements += fmt::format("<stop offset=\"{}\" stop-color=\"{}\"/>", share, scale_colour(share));
  }
  svg.elements += "</linearGradient>\n";
  add_rectangle(svg, corner, 16, height, "url(#scale)");
  const Axis axis = round_axis(figure.min, figure.max, 6);
  for (const double tick : figure.square_root ? std::vector{0.0, 0.05, 0.2, 0.5, 1.0} : ticks(axis)) {
    const double value = figure.square_root ? figure.min + tick * (figure.max - figure.min) : tick;
    if (value < figure.min - 1e-9 || value > figure.max + 1e-9) continue;
    add_text(svg, {corner.x + 23, corner.y + height * (1 - share_of(figure, value)) + 4}, Anchor::start,
             "small", figure.square_root ? fmt::format("{}", value) : tick_label(axis, value));
  }
}

// A table's surroundings: its title, its column labels and, for the first in a row, the row labels.
void add_labels(Svg& svg, const HeatMapLayout& layout, const HeatMaps& figure, size_t number) {
  const HeatMap& map = figure.maps[number];
  const Point corner = layout.corner(number),
              end = {corner.x + layout.table_width, corner.y + layout.table_height};
  const double middle = (corner.x + end.x) / 2;
  add_text(svg, {middle, corner.y - 12}, Anchor::middle, "", map.title);
  add_text(svg, {middle, end.y + layout.below}, Anchor::middle, "", figure.x_title);
  const bool first = number % layout.per_row == 0;
  if (first) add_upright_text(svg, {26, (corner.y + end.y) / 2}, Anchor::middle, "", figure.y_title);
  if (figure.column_names.empty()) {
    add_column_numbers(svg, layout, map, corner);
    if (first) add_row_numbers(svg, layout, map, corner);
  } else {
    add_column_names(svg, layout, figure, corner);
    if (first) add_row_names(svg, layout, figure, corner);
  }
}

}  // namespace

std::string svg(const HeatMaps& wanted) {
  HeatMaps figure = wanted;
  shorten_names(figure.row_names);
  shorten_names(figure.column_names);
  const HeatMapLayout layout = layout_of(figure);
  const bool two_values = !figure.max_name.empty();
  Svg svg = {.width = layout.width,
             .height = layout.height,
             .style = fmt::format(".name{{font-size:{}px}}\n", layout.name_size)};
  add_text(svg, {16, 30}, Anchor::start, "title", figure.title);
  for (size_t i = 0; i < figure.maps.size(); ++i) {
    add_cells(svg, layout, figure, figure.maps[i], layout.corner(i));
    add_lines(svg, layout, figure.maps[i], layout.corner(i));
    if (!two_values) add_numbers(svg, layout, figure, figure.maps[i], layout.corner(i));
    add_labels(svg, layout, figure, i);
  }
  if (two_values) {
    add_legend(svg, figure, layout.scale);
  } else {
    add_scale(svg, figure, layout.scale, std::min(layout.table_height, 240.0));
  }
  return svg_file(svg, figure.title);
}

}  // namespace dragoman::internal
