// Charts as SVG files: curves over axes (line_chart.cpp), and tables of numbers as colours (heat_map.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/svg.h"

namespace dragoman {

struct ChartCurve {
  std::string name;
  std::vector<Point> points;  // from left to right, in the axes' numbers
};

struct LineChart {
  std::string title, x_title, y_title;
  std::vector<ChartCurve> curves;
};

std::string svg(const LineChart&);

// A table: value (row, column) is values[row * columns + column].
struct HeatMap {
  std::string title;
  int64_t rows, columns;
  std::vector<double> values;
};

// Tables of one size side by side, on one scale of colours from `least` to `most`. Where cells are large enough each
// shows its number; where there are only two numbers they have names instead.
struct HeatMaps {
  std::string title, x_title, y_title;
  double least, most;
  std::vector<HeatMap> maps;
  std::string min_name = {}, max_name = {};
  std::vector<std::string> row_names = {}, column_names = {};  // instead of their numbers
};

std::string svg(const HeatMaps&);

// An axis in round steps (1, 2 or 5 times a power of ten) from a tick at or below the least number to one at or above
// the greatest.
struct Axis {
  double least, most, step;
};
Axis round_axis(double least, double most, int ticks_at_most);
std::vector<double> ticks(const Axis&);
std::string tick_label(const Axis&, double tick);  // 20,000 or 0.002: as many digits as the step has

}  // namespace dragoman
