// Where the parts of a figure of heat maps are, in pixels.
#pragma once

#include "report/plot.h"

namespace dragoman::internal {

struct HeatMapLayout {
  double cell_width, cell_height;
  double table_width, table_height;
  size_t per_row;           // tables
  double left, top;         // of the first table
  double pitch_x, pitch_y;  // from a table to its neighbours
  double below;             // from a table's lower edge to the baseline of the title of its horizontal axis
  double name_size;         // of the font of row and column names
  Point scale;              // the corner of the scale or legend
  double width = 0, height = 0;  // of the whole figure

  Point corner(size_t map) const {
    return {left + static_cast<double>(map % per_row) * pitch_x,
            top + static_cast<double>(map / per_row) * pitch_y};
  }
};

// Tables with names have cells of a readable size, and are wrapped into rows that fit a page; only sentences too long
// for it make a figure wider. Other tables have one size, whatever they hold, and square cells unless that makes them
// too high.
HeatMapLayout layout_of(const HeatMaps& figure);

// Names as long as there is room for.
void shorten_names(std::vector<std::string>& names);

}  // namespace dragoman::internal
