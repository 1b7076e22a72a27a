#include "report/explain/traced_pair.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::internal {
namespace {

bool is_same(const Tensor& a, const Tensor& b) { return a && b && &a.storage() == &b.storage(); }

// The first entry whose tensor is this one, or a part of it.
template <class Entry>
const Entry& entry_with(const std::vector<Entry>& entries, Tensor Entry::*member, const Tensor& tensor) {
  const auto found =
      std::ranges::find_if(entries, [&](const Entry& entry) { return is_same(entry.*member, tensor); });
  CHECK(found != entries.end(), "none of {} traced ops has the tensor", entries.size());
  return *found;
}

Labels labels_of(const std::vector<int32_t>& ids, const std::function<std::string(int32_t)>& piece) {
  Labels labels;
  for (const int32_t id : ids) labels.push_back(piece(id));
  return labels;
}

Tokens on_device(Device& device, const std::vector<int32_t>& ids) {
  const auto length = static_cast<int32_t>(ids.size());
  constexpr uint64_t pair = 0;
  return pack_tokens(device, ids, {&length, 1}, {&pair, 1});
}

}  // namespace

HostMatrix columns_of(const HostMatrix& matrix, int64_t begin, int64_t count) {
  HostMatrix part = {{}, matrix.rows, count};
  for (int64_t r = 0; r < matrix.rows; ++r) {
    const auto wanted = matrix.row(r).subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
    part.values.insert(part.values.end(), wanted.begin(), wanted.end());
  }
  return part;
}

TracedPair::TracedPair(Transformer& traced, const ExplainedPair& ids)
    : model(traced),
      pair(ids),
      source_labels(labels_of(ids.source, ids.source_piece)),
      read_labels(labels_of(ids.read, ids.target_piece)),
      expected_labels(labels_of(ids.expected, ids.target_piece)),
      source(on_device(traced.device, ids.source)),
      target(on_device(traced.device, ids.read)) {
  Pass pass{.device = model.device, .trace = &trace};
  decoded = decode(pass, model, target, memory_of(pass, model, source));
}

const Trace::Product& TracedPair::product_with(const Tensor& weight) const {
  return entry_with(trace.products, &Trace::Product::weight, weight);
}

const Trace::Norm& TracedPair::norm_with(const Tensor& gain) const {
  return entry_with(trace.norms, &Trace::Norm::gain, gain);
}

const Trace::Norm& TracedPair::sum_with(const Tensor& branch) const {
  return entry_with(trace.norms, &Trace::Norm::branch, branch);
}

const Trace::Attention& TracedPair::attention_of(const Tensor& queries) const {
  return entry_with(trace.attentions, &Trace::Attention::q, queries);
}

const Trace::Recurrence& TracedPair::recurrence_of(const Tensor& gate_and_input) const {
  return entry_with(trace.recurrences, &Trace::Recurrence::gate_and_input, gate_and_input);
}

bool TracedPair::is_low_precision() const {
  return std::ranges::any_of(model.parameters.list(),
                             [](const Parameter& p) { return p.value.is_low_precision(); });
}

const std::string& TracedPair::name_of(const Tensor& tensor) const {
  const auto& all = model.parameters.list();
  const auto found = std::ranges::find_if(all, [&](const Parameter& p) { return is_same(p.value, tensor); });
  CHECK(found != all.end(), "it is no parameter");
  return found->name;
}

Table vectors(std::string name, std::string formula, Labels rows, const HostMatrix& values) {
  Table table = {.name = std::move(name),
                 .formula = std::move(formula),
                 .rows = std::move(rows),
                 .columns = {},
                 .cells = {}};
  for (int64_t r = 0; r < values.rows; ++r) {
    const auto row = values.row(r);
    table.cells.emplace_back(row.begin(), row.end());
  }
  return table;
}

Table vectors(std::string name, std::string formula, const Labels& rows, const Tensor& values) {
  return vectors(std::move(name), std::move(formula), rows, on_host(values));
}

}  // namespace dragoman::internal
