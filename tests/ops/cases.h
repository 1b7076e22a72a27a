// All ops, each with what it takes to run it: one list for the gradient check, the comparison of instruction sets
// and of numbers of threads, and, at the sizes of real models, for bench/ops.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "ops/ops.h"

namespace dragoman::internal {

// One matrix that an op reads. A constant has no gradient.
struct OpInput {
  enum class Kind { activation, parameter, constant };
  // even: anywhere in ±size. aside: in ±[size, 2·size], the sign by the column: relu's kink is kept away from.
  enum class Values { even, aside };

  const char* name;
  int64_t rows, columns;
  Kind kind = Kind::activation;
  double size = 1;
  Values values = Values::even;
};

// An op's inputs on a device, and the sentences whose tokens are the rows.
struct OpArguments {
  std::vector<Tensor> inputs;  // in the case's order
  Tokens tokens;
  Spans keys;  // what the queries of each sentence look at
  Array<int32_t> targets;
  std::vector<Tensor> memory;  // the parameters' weights and gradients
};

// How much there is to do: multiplications and additions, and bytes that must be read or written.
struct Work {
  double operations = 0, bytes = 0;
};

struct OpCase {
  std::string name;
  std::vector<int32_t> lengths;  // of the sentences
  std::vector<OpInput> inputs;
  std::function<std::vector<Tensor>(Pass&, const OpArguments&)> run;
  int64_t vocabulary = 2;       // ids and targets are below it
  std::vector<Span> keys = {};  // where they are not the sentences themselves
  // Unless 0, the outputs are losses of so many columns, whose own gradients the op has: of the sum of the first one.
  int64_t loss_columns = 0;
  Work forward = {}, backward = {};
  int64_t uses = 0;  // in a step of training

  int64_t rows() const;
};
inline void PrintTo(const OpCase& op, std::ostream* out) { *out << op.name; }  // how a failing test names it

// Small, of odd sizes: widths that fill no vector, sentences of one token, more than one block or tile.
std::vector<OpCase> small_op_cases();

// As in training a model of this size, on sentences of these lengths.
struct OpSizes {
  int64_t layers, d_model, d_ff, heads, vocabulary;  // layers: of each stack
  std::vector<int32_t> lengths;
};
std::vector<OpCase> large_op_cases(const OpSizes& sizes);

// --- running a case ---------------------------------------------------------------------------------

using Floats = std::vector<float>;

// What a matrix in a device's memory holds, row by row.
Floats floats_of(DeviceMemory& memory, ConstMatrix m);

// The inputs' values, and those of the gradients of outputs of these sizes: functions of the case's name.
std::vector<Floats> input_values(const OpCase& op);
std::vector<Floats> output_gradients(const OpCase& op, const std::vector<size_t>& sizes);

OpArguments make_arguments(Device& device, const OpCase& op, const std::vector<Floats>& values);

// A pass whose masks are the same each time.
Pass case_pass(Device& device, Tape& tape, Precision precision = Precision::fp32);

struct OpResult {
  std::vector<Floats> outputs;
  std::vector<Floats> gradients;  // of each input; empty for constants
};
OpResult run_forward(Device& device, const OpCase& op, const std::vector<Floats>& values);
OpResult run_both_ways(Device& device, const OpCase& op, const std::vector<Floats>& values,
                       Precision precision = Precision::fp32);

}  // namespace dragoman::internal
