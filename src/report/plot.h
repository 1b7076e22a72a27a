// Charts as SVG files: line charts (line_chart.cpp) and heat maps (heat_map.cpp).
//
// These are figures for papers and documents, which must show without a script. The charts of HTML pages, which zoom,
// smooth and answer the pointer, are drawn by web/chart.js in the reader's browser. Both use the axes of numbers.h.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "report/svg.h"

namespace dragoman::internal {

struct ChartCurve {
  std::string name;
  std::vector<Point> points;  // from left to right, in the units of the axes
};

struct LineChart {
  std::string title, x_title, y_title;
  std::vector<ChartCurve> curves;
};

std::string svg(const LineChart&);

// A matrix in row-major order.
struct HeatMap {
  std::string title;
  int64_t rows, columns;
  std::vector<double> values;
};

// Matrices of one size side by side, with one colour scale from `min` to `max`. Large cells show their numbers. If
// there are only two values, min_name and max_name make a legend instead of the scale. With names of rows and columns,
// these are wrapped into rows that fit a page.
struct HeatMaps {
  std::string title, x_title, y_title;
  double min, max;
  std::vector<HeatMap> maps;
  std::string min_name = {}, max_name = {};
  std::vector<std::string> row_names = {}, column_names = {};  // instead of indices
  bool square_root = false;  // colours by the square root of a value, so that small ones differ
  double min_number = -std::numeric_limits<double>::infinity();  // that is written in its cell
};

std::string svg(const HeatMaps&);

}  // namespace dragoman::internal
