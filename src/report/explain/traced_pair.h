// A pair of sentences after a forward pass: what each op of the model read and wrote, as matrices of the host.
#pragma once

#include <string>

#include "model/transformer.h"
#include "ops/trace.h"
#include "report/explanation.h"
#include "report/host_matrix.h"

namespace dragoman::internal {

HostMatrix columns_of(const HostMatrix& matrix, int64_t begin, int64_t count);

struct TracedPair {
  TracedPair(Transformer& model, const ExplainedPair& pair);
  TracedPair(const TracedPair&) = delete;
  TracedPair& operator=(const TracedPair&) = delete;

  const Trace::Product& product_with(const Tensor& weight) const;
  const Trace::Norm& norm_with(const Tensor& gain) const;
  // Where a sublayer's output joins the residual stream.
  const Trace::Norm& sum_with(const Tensor& branch) const;
  const Trace::Attention& attention_of(const Tensor& queries) const;
  const Trace::Recurrence& recurrence_of(const Tensor& gate_and_input) const;

  // Whether weights were rounded to fewer bits.
  bool is_low_precision() const;
  // "encoder.layers.0.self_attention.qkv.weight"
  const std::string& name_of(const Tensor& parameter) const;

  Transformer& model;
  const ExplainedPair& pair;
  Labels source_labels, read_labels, expected_labels;
  Tokens source, target;  // on the device
  Trace trace;
  Tensor decoded;
};

// The rows of a matrix as a table of vectors.
Table vectors(std::string name, std::string formula, Labels rows, const HostMatrix& values);
Table vectors(std::string name, std::string formula, const Labels& rows, const Tensor& values);

}  // namespace dragoman::internal
