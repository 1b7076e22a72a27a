#include "report/diagram.h"

#include <cmath>

#include <fmt/format.h>

namespace dragoman::internal {
namespace {

constexpr double radius = 9;           // of a sum's circle
constexpr double residual_width = 26;  // from a box's edge to the line past it
constexpr double text_height = 18;

constexpr std::string_view diagram_style =
    R"(.box{stroke-width:1.5}.frame{fill:none;stroke:#6e7781;stroke-dasharray:5 4}.head{fill:#57606a}
.flow{fill:none;stroke:#57606a;stroke-width:1.5}.sum{fill:#fff;stroke:#57606a;stroke-width:1.5}
.embedding{fill:#fdeedd;stroke:#d55e00}.attention{fill:#dcecf8;stroke:#0a7bc2}
.feed-forward{fill:#d9f2e9;stroke:#009e73}.norm{fill:#f0f1f3;stroke:#8b949e}
.linear{fill:#f8e6f0;stroke:#cc79a7}.plain{fill:#fff;stroke:#6e7781}
@media(prefers-color-scheme:dark){.head{fill:#9aa4b0}.flow{stroke:#9aa4b0}.sum{fill:#161b22;stroke:#9aa4b0}
.embedding{fill:#3d2a16}.attention{fill:#12304a}.feed-forward{fill:#0d3529}.norm{fill:#2b3138}
.linear{fill:#3d2433}.plain{fill:#161b22}}
)";

std::string_view css_class(BoxKind kind) {
  switch (kind) {
    case BoxKind::embedding:
      return "embedding";
    case BoxKind::attention:
      return "attention";
    case BoxKind::feed_forward:
      return "feed-forward";
    case BoxKind::norm:
      return "norm";
    case BoxKind::linear:
      return "linear";
    case BoxKind::plain:
      break;
  }
  return "plain";
}

void add_rounded(Svg& svg, const Box& box, std::string_view classes) {
  svg.elements += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\" class=\"{}\"/>\n",
      box.left().x, box.top, box.width, box.height, classes);
}

}  // namespace

Svg diagram(double width, std::string_view title) {
  Svg svg = {.width = width, .height = 0, .style = std::string(diagram_style)};
  add_text(svg, {16, 30}, Anchor::start, "title", title);
  return svg;
}

std::string finished(Svg& svg, double bottom, std::string_view title) {
  svg.height = bottom + 18;
  return svg_file(svg, title);
}

void add_box(Svg& svg, const Box& box, BoxKind kind, std::string_view text) {
  add_rounded(svg, box, fmt::format("box {}", css_class(kind)));
  add_text(svg, {box.x, box.top + box.height / 2 + 4.5}, Anchor::middle, "", text);
}

void add_frame(Svg& svg, const Box& box, std::string_view text) {
  add_rounded(svg, box, "frame");
  add_text(svg, {box.left().x + 10, box.top + 14}, Anchor::start, "small", text);
}

void add_arrow(Svg& svg, const std::vector<Point>& path) {
  constexpr double length = 8, half = 4;
  const Point end = path.back(), before = path[path.size() - 2];
  const double distance = std::hypot(end.x - before.x, end.y - before.y);
  const Point along = {(end.x - before.x) / distance, (end.y - before.y) / distance};
  const Point base = {end.x - length * along.x, end.y - length * along.y};
  std::string line;
  for (const Point& p : path) {
    const Point to = &p == &path.back() ? base : p;
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", to.x, to.y);
  }
  svg.elements += fmt::format("<path class=\"flow\" d=\"{}\"/>\n", line);
  svg.elements += fmt::format("<path class=\"head\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\"/>\n",
                              end.x, end.y, base.x - half * along.y, base.y + half * along.x,
                              base.x + half * along.y, base.y - half * along.x);
}

Column::Column(Svg& svg, double x, double top, double width) : svg_(svg), x_(x), y_(top), width_(width) {}

void Column::arrow_to(double y) {
  if (!empty_) add_arrow(svg_, {{x_, y_}, {x_, y}});
  empty_ = false;
}

void Column::text(std::string_view text) {
  const double top = y_ + (empty_ ? 0 : arrow_length);
  arrow_to(top);
  add_text(svg_, {x_, top + 14}, Anchor::middle, "", text);
  y_ = top + text_height + 2;
}

Box Column::box(BoxKind kind, std::string_view text) {
  const Box box = {x_, y_ + (empty_ ? 0 : arrow_length), width_, box_height};
  arrow_to(box.top);
  add_box(svg_, box, kind, text);
  y_ = box.lower().y;
  return box;
}

void Column::branch() { branch_ = y_ + arrow_length / 3; }

void Column::sum() {
  const double middle = y_ + arrow_length + radius, side = x_ - width_ / 2 - residual_width;
  arrow_to(middle - radius);
  add_arrow(svg_, {{x_, branch_}, {side, branch_}, {side, middle}, {x_ - radius, middle}});
  svg_.elements +=
      fmt::format("<circle class=\"sum\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.0f}\"/>\n", x_, middle, radius);
  svg_.elements +=
      fmt::format("<path class=\"flow\" d=\"M{0:.1f} {1:.1f}h{3:.0f}M{2:.1f} {4:.1f}v{3:.0f}\"/>\n",
                  x_ - radius + 4, middle, x_, 2 * radius - 8, middle - radius + 4);
  y_ = middle + radius;
}

}  // namespace dragoman::internal
