#include "report/figures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "kernels/kernels.h"
#include "model/config.h"
#include "nn/distance_bias.h"
#include "ops/ops.h"
#include "train/schedule.h"

namespace dragoman::internal {
namespace {

// --- options that several figures have ----------------------------------------------------------------

void declare_width(Section& own, int64_t& d_model, double max) {
  own.add("d_model", d_model, "width of a table of positions", at_least(2).at_most(max));
}

void declare_positions(Section& own, int64_t& positions, double min, double max) {
  own.add("positions", positions, "how many positions, from 0 on", at_least(min).at_most(max));
}

const std::vector<std::pair<std::string, Positions>> variants = {{"sinusoidal", Positions::sinusoidal},
                                                                 {"halves", Positions::halves},
                                                                 {"tensor2tensor", Positions::tensor2tensor},
                                                                 {"raw_index", Positions::raw_index},
                                                                 {"rotary", Positions::rotary},
                                                                 {"alibi", Positions::alibi},
                                                                 {"t5", Positions::t5}};

void check_even(int64_t d_model) {
  if (d_model % 2 != 0) throw OptionError("d_model", fmt::format("is {}, but must be even", d_model));
}

HeatMap position_table(const std::string& title, Positions variant, const PositionTables& options) {
  HeatMap table = {.title = title, .rows = options.positions, .columns = options.d_model, .values = {}};
  for (int64_t p = 0; p < table.rows; ++p) {
    for (int64_t c = 0; c < table.columns; ++c)
      table.values.push_back(position_value(variant, p, c, options.d_model));
  }
  return table;
}

// The d_model and the warm-up of "512:4000".
std::pair<int64_t, int64_t> sizes_of(const std::string& curve) {
  int64_t d_model = 0, warmup = 0;
  const char* const end = curve.data() + curve.size();
  const auto first = std::from_chars(curve.data(), end, d_model);
  const bool colon = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
  const auto second = colon ? std::from_chars(first.ptr + 1, end, warmup) : first;
  if (!colon || second.ec != std::errc() || second.ptr != end || d_model < 1 || warmup < 1) {
    throw OptionError(
        "curves",
        fmt::format("contains \"{}\", which is not D_MODEL:WARMUP with both at least 1, such as 512:4000",
                    curve));
  }
  return {d_model, warmup};
}

ChartCurve noam_curve(const std::string& name, const NoamSchedules& options) {
  const auto [d_model, warmup] = sizes_of(name);
  ChartCurve curve = {.name = fmt::format("d_model {}, warm-up {}", d_model, warmup), .points = {}};
  const auto add = [&, d = d_model, w = warmup](int64_t step) {
    curve.points.push_back({static_cast<double>(step), noam_rate(step, d, options.factor, w)});
  };
  const int64_t stride = std::max<int64_t>(1, options.steps / 200);
  for (int64_t step = 1; step < options.steps; step += stride) {
    add(step);
    if (step < warmup && warmup < std::min(step + stride, options.steps)) add(warmup);  // the peak is sharp
  }
  add(options.steps);
  return curve;
}

// By a key's distance from its query, before and after it.
LineChart distance_chart(const PositionCurves& options, std::string title, std::string y_title,
                         const std::vector<std::string>& names,
                         const std::function<double(size_t curve, int64_t distance)>& value) {
  LineChart chart = {.title = std::move(title),
                     .x_title = "distance of a key from its query",
                     .y_title = std::move(y_title),
                     .curves = {}};
  for (size_t i = 0; i < names.size(); ++i) {
    ChartCurve curve = {.name = names[i], .points = {}};
    for (int64_t d = 1 - options.positions; d < options.positions; ++d)
      curve.points.push_back({static_cast<double>(d), value(i, d)});
    chart.curves.push_back(std::move(curve));
  }
  return chart;
}

LineChart alibi_chart(const PositionCurves& options) {
  std::vector<std::string> names;
  for (int64_t h = 0; h < options.columns; ++h) names.push_back(fmt::format("head {}", h + 1));
  const std::vector<double> slopes = alibi_slopes(options.columns);
  return distance_chart(
      options, fmt::format("ALiBi of {} heads", options.columns), "added to scores", names,
      [&](size_t head, int64_t distance) { return -slopes[head] * static_cast<double>(std::abs(distance)); });
}

LineChart t5_chart(const PositionCurves& options) {
  const ModelConfig model;
  return distance_chart(
      options,
      fmt::format("T5's {} buckets of distances up to {}", model.position_buckets, model.max_distance),
      "bucket", {"encoder", "decoder"}, [&](size_t stack, int64_t distance) {
        return static_cast<double>(
            t5_bucket(distance, stack == 0, model.position_buckets, model.max_distance));
      });
}

}  // namespace

void declare(Section& own, PositionCurves& options) {
  own.add("variant", options.variant,
          "positional encoding to draw; alibi and t5: what attention knows of distances", variants);
  declare_width(own, options.d_model, 100'000);
  own.add("first-column", options.first_column, "first column to draw, counted from 0", at_least(0));
  own.add("columns", options.columns, "how many columns to draw; of alibi, heads", at_least(1).at_most(20));
  declare_positions(own, options.positions, 2, 5000);
}

LineChart chart(const PositionCurves& options) {
  if (options.variant == Positions::alibi) return alibi_chart(options);
  if (options.variant == Positions::t5) return t5_chart(options);
  check_even(options.d_model);
  if (options.columns > options.d_model - options.first_column) {
    throw OptionError("columns", fmt::format("is {}, but there are {} from column {} on", options.columns,
                                             std::max<int64_t>(options.d_model - options.first_column, 0),
                                             options.first_column));
  }
  const auto formula =
      std::ranges::find(variants, options.variant, &std::pair<std::string, Positions>::second);
  LineChart chart = {
      .title = fmt::format("Columns of {} positions, d_model {}", formula->first, options.d_model),
      .x_title = "position",
      .y_title = "value",
      .curves = {}};
  for (int64_t c = options.first_column; c < options.first_column + options.columns; ++c) {
    ChartCurve curve = {.name = fmt::format("column {}", c), .points = {}};
    for (int64_t p = 0; p < options.positions; ++p) {
      curve.points.push_back(
          {static_cast<double>(p), position_value(options.variant, p, c, options.d_model)});
    }
    chart.curves.push_back(std::move(curve));
  }
  return chart;
}

void declare(Section& own, PositionTables& options) {
  declare_width(own, options.d_model, 512);
  declare_positions(own, options.positions, 1, 1000);
}

HeatMaps chart(const PositionTables& options) {
  check_even(options.d_model);
  HeatMaps chart = {.title = fmt::format("Position tables, d_model {}", options.d_model),
                    .x_title = "column",
                    .y_title = "position",
                    .min = -1,
                    .max = 1,
                    .maps = {}};
  for (const auto& [name, variant] : variants) {
    // `halves` is `sinusoidal` with its columns in another order.
    if (is_added(variant) && variant != Positions::halves)
      chart.maps.push_back(position_table(name, variant, options));
  }
  return chart;
}

void declare(Section& own, PositionProducts& options) {
  declare_width(own, options.d_model, 4096);
  declare_positions(own, options.positions, 2, 200);
}

// PE(p)·PE(q) is a sum of cosines of (p − q) times a rate, d_model/2 of them.
HeatMaps chart(const PositionProducts& options) {
  check_even(options.d_model);
  const int64_t n = options.positions, d = options.d_model;
  std::vector<double> table;
  for (int64_t i = 0; i < n * d; ++i) table.push_back(position_value(Positions::sinusoidal, i / d, i % d, d));
  HeatMap products = {.title = "", .rows = n, .columns = n, .values = {}};
  for (int64_t p = 0; p < n; ++p) {
    for (int64_t q = 0; q < n; ++q) {
      const auto row = table.begin() + p * d;
      const double product = std::inner_product(row, row + d, table.begin() + q * d, 0.0);
      products.values.push_back(product / static_cast<double>(d / 2));
    }
  }
  return {.title = fmt::format("Products of two rows of the positions' table, d_model {}", options.d_model),
          .x_title = "position",
          .y_title = "position",
          .min = -1,
          .max = 1,
          .maps = {products}};
}

void declare(Section& own, CausalMask& options) { declare_positions(own, options.positions, 1, 200); }

// With equal scores and the unit matrix as values, attention's output is its weights.
HeatMaps chart(const CausalMask& options) {
  const int64_t n = options.positions;
  Device device(chosen_kernels(), 1);
  const Tensor zeros(device.pool, n, n), unit(device.pool, n, n);
  device.memory.fill(zeros.matrix(), 0);
  device.memory.fill(unit.matrix(), 0);
  device.memory.fill({unit.data(), n, 1, n + 1}, 1);  // its diagonal
  const Span sentence = {0, static_cast<int32_t>(n)};
  const Spans spans(device.pool, {&sentence, 1});
  Pass pass{device};
  const Tensor weights =
      attention(pass, zeros, zeros, unit, {.queries = &spans, .keys = &spans, .causal = true});
  HeatMap mask = {.title = "", .rows = n, .columns = n, .values = {}};
  for (const float weight : weights.values()) mask.values.push_back(weight > 0 ? 1 : 0);
  return {.title = "The causal mask",
          .x_title = "position attended to",
          .y_title = "attending position",
          .min = 0,
          .max = 1,
          .maps = {mask},
          .min_name = "masked",
          .max_name = "visible"};
}

void declare(Section& own, NoamSchedules& options) {
  own.add("curves", options.curves, "D_MODEL:WARMUP of each curve");
  own.add("factor", options.factor, "factor of every learning rate", above(0));
  own.add("steps", options.steps, "how many updates to draw", at_least(2).at_most(1e9));
}

LineChart chart(const NoamSchedules& options) {
  if (options.curves.empty()) throw OptionError("curves", "is empty: name at least one D_MODEL:WARMUP");
  LineChart chart = {.title = "Noam's learning rates", .x_title = "update", .y_title = "rate", .curves = {}};
  for (const std::string& curve : options.curves) chart.curves.push_back(noam_curve(curve, options));
  return chart;
}

}  // namespace dragoman::internal
