// dragoman draw: the articles' figures as SVG files.
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/shared_options.h"
#include "base/nearest.h"
#include "base/quotes.h"
#include "report/figures.h"
#include "report/model_diagrams.h"

namespace dragoman::internal {
namespace {

struct Figure {
  const char* name;
  const char* summary;
  void (*draw)(const Figure& figure, const Arguments& arguments);
};

// Reads the command line, with what `own` has beside --out, and writes the file that make() returns.
template <typename Make>
void draw_figure(const Figure& figure, const Arguments& arguments, Options& options, Section own,
                 const Make& make) {
  std::string out = "-";
  declare_output_file(own, out);
  CommandLine line(fmt::format("draw {}", figure.name), figure.summary);
  line.add_options(options);
  if (!line.read(arguments)) return;
  check_output(out);

  std::string file;
  options.check([&] { file = make(); });
  write_output(out, file);
}

// A chart's options are those that its struct declares.
template <typename Chart>
void draw_chart(const Figure& figure, const Arguments& arguments) {
  Chart settings;
  Options options;
  Section own = options.section("", "Options");
  declare(own, settings);
  draw_figure(figure, arguments, options, own, [&] { return svg(chart(settings)); });
}

template <std::string (*diagram)()>
void draw_diagram(const Figure& figure, const Arguments& arguments) {
  Options options;
  draw_figure(figure, arguments, options, options.section("", "Options"), diagram);
}

constexpr Figure figures[] = {
    {"architecture", "encoder and decoder as a whole", draw_diagram<architecture_diagram>},
    {"encoder-layer", "an encoder layer, with norms before and after the sublayers",
     draw_diagram<encoder_layer_diagram>},
    {"decoder-layer", "a decoder layer, likewise", draw_diagram<decoder_layer_diagram>},
    {"attention", "scaled dot-product attention", draw_diagram<attention_diagram>},
    {"multi-head-attention", "attention with several heads", draw_diagram<multi_head_attention_diagram>},
    {"positions", "columns of the positional encoding as curves", draw_chart<PositionCurves>},
    {"position-heatmap", "three variants of the positional encoding, side by side",
     draw_chart<PositionTables>},
    {"position-products", "each row of the positional encoding times each other",
     draw_chart<PositionProducts>},
    {"dot-products", "products of random queries and keys, with and without 1/√d_k", draw_chart<DotProducts>},
    {"mask", "the causal mask of the decoder", draw_chart<CausalMask>},
    {"schedules", "learning rates of the Noam schedule", draw_chart<NoamSchedules>},
    {"smoothing", "target distributions with label smoothing", draw_chart<SmoothedTargets>},
    {"smoothing-loss", "loss against the probability of the correct word", draw_chart<SmoothedLosses>},
    {"curves", "what training runs have logged, a curve for each", draw_chart<RunCurves>},
};

std::string help() {
  std::string text =
      "draw: the articles' figures, as SVG\n\nusage: dragoman draw NAME [--OPTION VALUE ...]\n\n";
  for (const Figure& figure : figures) text += fmt::format("  {:<22}{}\n", figure.name, figure.summary);
  return text + "\ndragoman draw NAME --help lists the options of a figure.\n";
}

// A line for each figure, as CommandLine prints options; or the options of the figure that comes next.
void print_completion(const Arguments& words) {
  for (const Figure& figure : figures)
    if (words.size() > 1 && words[1] == figure.name) return figure.draw(figure, {words[0]});
  for (const Figure& figure : figures) std::cout << fmt::format("{}::{}\n", figure.name, figure.summary);
}

}  // namespace

void draw(const Arguments& arguments) {
  const std::string name = arguments.empty() ? "" : arguments.front();
  if (name == "--help" || name == "-h") {
    std::cout << help();
    return;
  }
  if (name == "--help=completion") return print_completion(arguments);
  if (name == "--help=markdown") {
    for (const Figure& figure : figures) figure.draw(figure, arguments);
    return;
  }
  std::vector<std::string> names;
  std::string list;
  for (const Figure& figure : figures) {
    if (name == figure.name) return figure.draw(figure, {arguments.begin() + 1, arguments.end()});
    names.push_back(figure.name);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", figure.name);
  }
  if (name.empty() || name[0] == '-') throw UsageError("draw needs the NAME of a figure: {}", list);
  const std::string meant = suggestion(name, names);
  throw UsageError("draw: unknown figure {}{} The figures are {}", shortened(name),
                   meant.empty() ? "." : meant, list);
}

}  // namespace dragoman::internal
