// The figures of the Transformer articles: the options of each, and its chart.
//
// All numbers come from the code that trains and translates: position_value, the attention op, noam_rate and the
// kernel of the loss; those of run_curves.cpp from what runs have logged. chart() throws OptionError if options
// contradict each other.
#pragma once

#include "base/options.h"
#include "nn/positions.h"
#include "report/plot.h"

namespace dragoman::internal {

// Columns of a position table as curves (the paper, section 3.5); of ALiBi and T5, what they make of distances.
struct PositionCurves {
  Positions variant = Positions::sinusoidal;
  int64_t d_model = 20;
  int64_t first_column = 4;
  int64_t columns = 4;
  int64_t positions = 100;
};
void declare(Section&, PositionCurves&);
LineChart chart(const PositionCurves&);

// The three position tables that are formulas, side by side.
struct PositionTables {
  int64_t d_model = 32;
  int64_t positions = 50;
};
void declare(Section&, PositionTables&);
HeatMaps chart(const PositionTables&);

// Which positions each position of the decoder attends to (the paper, section 3.2.3).
struct CausalMask {
  int64_t positions = 20;
};
void declare(Section&, CausalMask&);
HeatMaps chart(const CausalMask&);

// The Noam learning rate schedule (the paper, section 5.3), a curve for each "d_model:warmup".
struct NoamSchedules {
  std::vector<std::string> curves = {"512:4000", "512:8000", "256:4000"};
  double factor = 1;
  int64_t steps = 20000;
};
void declare(Section&, NoamSchedules&);
LineChart chart(const NoamSchedules&);

// Queries and keys of random numbers: how far their products spread, and what dividing by √d_k does (3.2.1).
struct DotProducts {
  int64_t d_k = 64;
  int64_t samples = 20000;
};
void declare(Section&, DotProducts&);
LineChart chart(const DotProducts&);

// Each row of the table of positions times each other: it depends on their distance alone (3.5).
struct PositionProducts {
  int64_t d_model = 512;
  int64_t positions = 50;
};
void declare(Section&, PositionProducts&);
HeatMaps chart(const PositionProducts&);

// The targets of label smoothing (the paper, section 5.4): a row for each correct word.
struct SmoothedTargets {
  int64_t words = 5;
  double smoothing = 0.4;
  bool padding = false;
};
void declare(Section&, SmoothedTargets&);
HeatMaps chart(const SmoothedTargets&);

// The loss by the correct word's probability, if the other words share the rest.
enum class LossAxis { probability, weight };
struct SmoothedLosses {
  int64_t words = 5;
  double smoothing = 0.1;
  LossAxis x = LossAxis::probability;
};
void declare(Section&, SmoothedLosses&);
LineChart chart(const SmoothedLosses&);

// What training runs have logged, a curve for each.
enum class RunEvent { train, validation, epoch };
enum class RunAxis { updates, minutes };
struct RunCurves {
  std::vector<std::string> runs = {};
  RunEvent event = RunEvent::validation;
  std::string metric = "loss";
  RunAxis x = RunAxis::updates;
};
void declare(Section&, RunCurves&);
LineChart chart(const RunCurves&);

}  // namespace dragoman::internal
