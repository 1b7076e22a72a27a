#include "report/heat_map_layout.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr double page_width = 1000, margin = 16, gap = 28, line_height = 18;
constexpr double room_for_scale = 76, room_for_legend = 140;
constexpr double min_cell = 9, readable_cell = 14, max_cell = 28;
constexpr double min_name = 8, max_name = 12;

constexpr size_t max_name_length = 18;  // characters

double widest(const std::vector<std::string>& names) {
  double width = 0;
  for (const std::string& name : names) width = std::max(width, text_width(name, max_name));
  return std::ceil(width);
}

// Rows of about as many tables each, as few as keep cells readable.
void fit_to_page(HeatMapLayout& layout, size_t tables, double columns) {
  const double room = page_width - layout.left - room_for_scale;
  const auto cell = [&](size_t per_row) {
    const auto n = static_cast<double>(per_row);
    return std::floor((room - (n - 1) * gap) / (n * columns));
  };
  size_t per_row = tables;
  while (per_row > 1 && cell(per_row) < readable_cell) --per_row;
  const size_t rows = (tables + per_row - 1) / per_row;
  layout.per_row = (tables + rows - 1) / rows;
  layout.cell_width = layout.cell_height = std::clamp(cell(layout.per_row), min_cell, max_cell);
}

}  // namespace

void shorten_names(std::vector<std::string>& names) {
  for (std::string& name : names) name = shortened_text(name, max_name_length);
}

HeatMapLayout layout_of(const HeatMaps& figure) {
  CHECK(!figure.maps.empty() && figure.min < figure.max, "nothing to draw");
  const bool named = !figure.row_names.empty();
  const size_t tables = figure.maps.size();
  const double columns = static_cast<double>(figure.maps[0].columns);
  const double rows = static_cast<double>(figure.maps[0].rows);
  HeatMapLayout layout = {};
  layout.top = 76;
  if (named) {
    layout.left = margin + line_height + widest(figure.row_names) + 8;
    layout.below = widest(figure.column_names) + 8 + line_height;
    fit_to_page(layout, tables, columns);
  } else {
    layout.left = 68;
    layout.below = 40;
    layout.per_row = tables;
    layout.cell_width = (tables == 1 ? 380 : 240) / columns;
    layout.cell_height = std::min(layout.cell_width, 400 / rows);
  }
  layout.name_size = std::clamp(layout.cell_height - 2, min_name, max_name);
  layout.table_width = layout.cell_width * columns;
  layout.table_height = layout.cell_height * rows;
  layout.pitch_x = layout.table_width + gap;
  layout.pitch_y = layout.table_height + layout.below + 3 * line_height;
  layout.scale = {layout.left + static_cast<double>(layout.per_row) * layout.pitch_x - 8, layout.top};
  layout.width = std::max(layout.scale.x + (figure.max_name.empty() ? room_for_scale - 20 : room_for_legend),
                          2 * margin + text_width(figure.title, 17));
  layout.height = layout.corner(tables - 1).y + layout.table_height + layout.below + line_height;
  return layout;
}

}  // namespace dragoman::internal
