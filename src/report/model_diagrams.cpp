#include "report/model_diagrams.h"

#include <utility>

#include "model/config.h"
#include "report/diagram.h"

namespace dragoman::internal {
namespace {

// Around the boxes of a column that are repeated.
void add_layer_frame(Svg& svg, const Box& first, const Box& last, std::string_view text) {
  constexpr double around = 22;
  const double top = first.top - around + 2;
  add_frame(svg, {first.x, top, first.width + 2 * around, last.lower().y + around / 2 - top}, text);
}

void add_order(Svg& svg, double x, NormOrder order) {
  const bool pre = order == NormOrder::pre;
  add_text(svg, {x, 64}, Anchor::middle, "", pre ? "pre-norm" : "post-norm");
  add_text(svg, {x, 84}, Anchor::middle, "small",
           pre ? "x + Dropout(Sublayer(LayerNorm(x)))" : "LayerNorm(x + Dropout(Sublayer(x)))");
}

// Both norm orders of a layer side by side, the second at post_x: add(svg, column, order) adds the sublayers.
template <typename Add>
std::string layer_diagram(std::string_view title, double width, double post_x, const Add& add) {
  Svg svg = diagram(width, title);
  double bottom = 0;
  for (const auto& [order, x] : {std::pair(NormOrder::pre, 160.0), std::pair(NormOrder::post, post_x)}) {
    add_order(svg, x, order);
    Column column(svg, x, 104, 190);
    column.text("x");
    add(svg, column, order);
    column.text("to the next layer");
    bottom = column.bottom();
  }
  return finished(svg, bottom, title);
}

// A sublayer with its residual connection and its norm. Returns the sublayer's box.
Box add_sublayer(Column& column, NormOrder order, BoxKind kind, std::string_view text) {
  column.branch();
  if (order == NormOrder::pre) column.box(BoxKind::norm, "LayerNorm");
  const Box sublayer = column.box(kind, text);
  column.box(BoxKind::plain, "dropout");
  column.sum();
  if (order == NormOrder::post) column.box(BoxKind::norm, "LayerNorm");
  return sublayer;
}

}  // namespace

std::string architecture_diagram() {
  constexpr std::string_view title = "The Transformer";
  constexpr double width = 240, source_x = 160, target_x = 510, top = 56;
  Svg svg = diagram(670, title);

  Column source(svg, source_x, top, width);
  source.text("source tokens");
  source.box(BoxKind::embedding, "embedding · √d_model + position");
  const Box self = source.box(BoxKind::attention, "self-attention");
  add_layer_frame(svg, self, source.box(BoxKind::feed_forward, "feed-forward network"), "N ×");
  source.box(BoxKind::norm, "LayerNorm (pre-norm only)");

  Column target(svg, target_x, top, width);
  target.text("target tokens so far");
  target.box(BoxKind::embedding, "embedding · √d_model + position");
  const Box masked = target.box(BoxKind::attention, "masked self-attention");
  const Box cross = target.box(BoxKind::attention, "cross-attention");
  add_layer_frame(svg, masked, target.box(BoxKind::feed_forward, "feed-forward network"), "N ×");
  target.box(BoxKind::norm, "LayerNorm (pre-norm only)");
  target.box(BoxKind::linear, "linear, d_model → vocabulary");
  target.box(BoxKind::linear, "softmax");
  target.text("probabilities of the next token");

  constexpr double between = (source_x + target_x) / 2;
  const double below = source.bottom() + arrow_length;
  add_arrow(svg, {{source_x, source.bottom()},
                  {source_x, below},
                  {between, below},
                  {between, cross.left().y},
                  cross.left()});
  add_text(svg, {source_x + 4, below + 16}, Anchor::start, "small", "keys and values");
  add_text(svg, {source_x + 4, below + 32}, Anchor::start, "small", "of every decoder layer");
  return finished(svg, target.bottom(), title);
}

std::string encoder_layer_diagram() {
  return layer_diagram("An encoder layer", 600, 445, [](Svg&, Column& column, NormOrder order) {
    add_sublayer(column, order, BoxKind::attention, "multi-head self-attention");
    add_sublayer(column, order, BoxKind::feed_forward, "feed-forward network");
  });
}

std::string decoder_layer_diagram() {
  return layer_diagram("A decoder layer", 760, 525, [](Svg& svg, Column& column, NormOrder order) {
    add_sublayer(column, order, BoxKind::attention, "masked self-attention");
    const Box cross = add_sublayer(column, order, BoxKind::attention, "cross-attention");
    add_sublayer(column, order, BoxKind::feed_forward, "feed-forward network");
    const Point from = {cross.right().x + 36, cross.right().y};
    add_arrow(svg, {from, cross.right()});
    add_text(svg, {from.x + 6, from.y - 3}, Anchor::start, "small", "keys, values:");
    add_text(svg, {from.x + 6, from.y + 12}, Anchor::start, "small", "encoder output");
  });
}

std::string attention_diagram() {
  constexpr std::string_view title = "Scaled dot-product attention";
  constexpr double queries_x = 110, keys_x = 230, values_x = 470, top = 56;
  Svg svg = diagram(560, title);
  const Box scores = {(queries_x + keys_x) / 2, top + 20 + arrow_length, 240, box_height};
  add_text(svg, {queries_x, top + 14}, Anchor::middle, "", "Q: m × d_k");
  add_text(svg, {keys_x, top + 14}, Anchor::middle, "", "K: n × d_k");
  add_text(svg, {values_x, top + 14}, Anchor::middle, "", "V: n × d_k");
  for (const double x : {queries_x, keys_x}) add_arrow(svg, {{x, top + 20}, {x, scores.top}});

  Column column(svg, scores.x, scores.top, scores.width);
  column.box(BoxKind::linear, "Q · Kᵀ");
  column.box(BoxKind::plain, "divided by √d_k");
  const Box mask = column.box(BoxKind::plain, "mask (decoder self-attention)");
  const Box softmax = column.box(BoxKind::attention, "softmax of each row");
  column.box(BoxKind::plain, "dropout");
  add_text(svg, {mask.right().x + 14, scores.right().y + 4}, Anchor::start, "small", "scores, m × n");
  add_text(svg, {mask.right().x + 14, softmax.right().y + 4}, Anchor::start, "small", "weights, m × n");

  const Box product = {280, column.bottom() + arrow_length, 460, box_height};
  add_arrow(svg, {{scores.x, column.bottom()}, {scores.x, product.top}});
  add_arrow(svg, {{values_x, top + 20}, {values_x, product.top}});
  Column end(svg, product.x, product.top, product.width);
  end.box(BoxKind::linear, "weights · V");
  end.text("output: m × d_k");
  return finished(svg, end.bottom(), title);
}

std::string multi_head_attention_diagram() {
  constexpr std::string_view title = "Multi-head attention";
  constexpr double middle = 310, width = 560, top = 56, apart = 190, head_width = 116, head_apart = 148;
  Svg svg = diagram(2 * middle, title);
  const Box split = {middle, top + 20 + 2 * arrow_length + box_height, width, box_height};
  const std::pair<const char*, const char*> inputs[] = {
      {"queries", "W^Q"}, {"keys", "W^K"}, {"values", "W^V"}};
  double x = middle - apart;
  for (const auto& [input, weights] : inputs) {
    Column column(svg, x, top, 130);
    column.text(input);
    column.box(BoxKind::linear, std::string("linear, ") + weights);
    add_arrow(svg, {{x, column.bottom()}, {x, split.top}});
    x += apart;
  }
  add_box(svg, split, BoxKind::plain, "split by columns into h heads, d_k = d_model / h");

  const double heads_top = split.lower().y + arrow_length, heads_bottom = heads_top + box_height;
  const Box joined = {middle, heads_bottom + arrow_length, width, box_height};
  x = middle - 1.5 * head_apart;
  for (const char* head : {"attention 1", "attention 2", "…", "attention h"}) {
    add_arrow(svg, {{x, split.lower().y}, {x, heads_top}});
    add_box(svg, {x, heads_top, head_width, box_height}, BoxKind::attention, head);
    add_arrow(svg, {{x, heads_bottom}, {x, joined.top}});
    x += head_apart;
  }
  Column end(svg, middle, joined.top, width);
  end.box(BoxKind::plain, "joined: d_model columns again");
  Column output(svg, middle, joined.lower().y + arrow_length, 130);
  add_arrow(svg, {joined.lower(), {middle, joined.lower().y + arrow_length}});
  output.box(BoxKind::linear, "linear, W^O");
  output.text("output");
  return finished(svg, output.bottom(), title);
}

}  // namespace dragoman::internal
