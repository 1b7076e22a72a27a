// dragoman draw: the articles' figures, as SVG files.
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "base/nearest.h"
#include "report/figures.h"

namespace dragoman {
namespace {

struct Figure {
  const char* name;
  const char* summary;
  void (*draw)(const Figure& figure, const Arguments& arguments);
};

// The figure's own options are those that its struct declares.
template <typename Chart>
void draw_chart(const Figure& figure, const Arguments& arguments) {
  Chart settings;
  std::string out = "-";
  Options options;
  auto own = options.section("", "What to draw, and where to");
  declare(own, settings);
  own.add("out", out, "the SVG file; - is standard output");
  CommandLine line(fmt::format("draw {}", figure.name), figure.summary);
  line.add_options(options);
  if (!line.parse(arguments)) return;
  line.set_flags();
  check_output(out);

  std::string file;
  options.check([&] { file = svg(chart(settings)); });
  write_output(out, file);
}

constexpr Figure figures[] = {
    {"positions", "some columns of the table of positions", draw_chart<PositionCurves>},
    {"position-heatmap", "three tables of positions, side by side", draw_chart<PositionTables>},
    {"mask", "which positions the decoder sees from each", draw_chart<CausalMask>},
    {"schedules", "Noam's learning rates", draw_chart<NoamSchedules>},
    {"smoothing", "the targets that label smoothing makes", draw_chart<SmoothedTargets>},
    {"smoothing-loss", "the loss as the right word grows more probable", draw_chart<SmoothedLosses>},
};

std::string help() {
  std::string text =
      "draw: the articles' figures, as SVG\n\nusage: dragoman draw NAME [--OPTION VALUE ...]\n\n";
  for (const Figure& figure : figures) text += fmt::format("  {:<18}{}\n", figure.name, figure.summary);
  return text + "\ndragoman draw NAME --help lists the options of a figure.\n";
}

}  // namespace

void draw(const Arguments& arguments) {
  const std::string name = arguments.empty() ? "" : arguments.front();
  if (name == "--help" || name == "-h") {
    std::cout << help();
    return;
  }
  std::vector<std::string> names;
  std::string list;
  for (const Figure& figure : figures) {
    if (name == figure.name) return figure.draw(figure, {arguments.begin() + 1, arguments.end()});
    names.push_back(figure.name);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", figure.name);
  }
  if (name.empty() || name[0] == '-') throw UsageError("draw needs the NAME of a figure first: {}", list);
  throw UsageError("there is no figure {}; the nearest one is {}, and these exist: {}", name,
                   nearest(name, names), list);
}

}  // namespace dragoman
