#include "report/svg.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view figure_style = R"(<style>
text{font:13px system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#24292f}
.title{font-size:17px;font-weight:600}.small{font-size:12px}.number{font-size:10px}
.light{fill:#fff}.dark{fill:#000}
.back{fill:#fff}.gap{stroke:#fff;stroke-width:.6}.grid{stroke:#dfe3e8}.axis{stroke:#6e7781;fill:none}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.light{fill:#fff}.dark{fill:#000}
.back{fill:#161b22}.gap{stroke:#161b22}.grid{stroke:#30363d}.axis{stroke:#8b949e}}
)";

std::string_view name(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

}  // namespace

void add_text(Svg& svg, Point at, Anchor anchor, std::string_view css_class, std::string_view text) {
  svg.elements += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                              at.x, at.y, name(anchor), css_class, escaped(text));
}

void add_upright_text(Svg& svg, Point at, Anchor anchor, std::string_view css_class, std::string_view text) {
  svg.elements += fmt::format(
      "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
      at.x, at.y, name(anchor), css_class, escaped(text));
}

void add_line(Svg& svg, Point from, Point to, std::string_view css_class) {
  svg.elements += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", css_class, from.x,
                              from.y, to.x, to.y);
}

void add_curve(Svg& svg, const std::vector<Point>& points, std::string_view colour, std::string_view dashes) {
  svg.elements += fmt::format(
      "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\" "
      "stroke-dasharray=\"{}\" points=\"",
      colour, dashes.empty() ? "none" : dashes);
  for (const Point& p : points) svg.elements += fmt::format("{:.1f},{:.1f} ", p.x, p.y);
  svg.elements += "\"/>\n";
}

void add_rectangle(Svg& svg, Point corner, double width, double height, std::string_view fill) {
  svg.elements +=
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                  corner.x, corner.y, width, height, fill);
}

std::string svg_file(const Svg& svg, std::string_view title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n{3}{4}</style>\n"
      "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n{5}</svg>\n",
      svg.width, svg.height, escaped(title), figure_style, svg.style, svg.elements);
}

// XML allows neither invalid UTF-8 nor control characters.
std::string escaped(std::string_view text) {
  std::string valid = repaired(text);
  std::ranges::replace_if(
      valid, [](char c) { return c >= 0 && c < ' ' && c != '\t' && c != '\n'; }, ' ');
  return escaped(valid, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}});
}

// East Asian characters and symbols are as wide as high.
double text_width(std::string_view text, double font_size) {
  double width = 0;
  for (const char32_t c : code_points(text)) width += c < 0x1100 ? 0.6 : 1;
  return width * font_size;
}

std::string shortened_text(std::string_view text, size_t characters) {
  size_t count = 0, kept = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_continuation(text[i])) continue;
    if (count + 1 == characters) kept = i;
    if (++count > characters) return std::string(text.substr(0, kept)) + "…";
  }
  return std::string(text);
}

// The colours of Okabe and Ito that contrast with both white and black.
std::string_view curve_colour(size_t number) {
  constexpr std::string_view colours[] = {"#0a7bc2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"};
  return colours[number % std::size(colours)];
}

std::string_view curve_dashes(size_t number) {
  constexpr std::string_view dashes[] = {"", "9 4", "3 3", "10 3 3 3"};
  return dashes[number % std::size(dashes)];
}

}  // namespace dragoman::internal
