// The pieces of a model, on arrays.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "binding.h"

namespace dragoman::python {
namespace {

using Rows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::numpy, float>;

Matrix matrix_of(const Rows& rows) {
  return {
      .rows = rows.shape(0), .columns = rows.shape(1), .values = {rows.data(), rows.data() + rows.size()}};
}

// The array owns the matrix's numbers.
Array array_of(Matrix matrix, bool is_vector = false) {
  auto* const values = new std::vector<float>(std::move(matrix.values));
  const nb::capsule owner(values, [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  const size_t shape[] = {matrix.rows, matrix.columns};
  return is_vector ? Array(values->data(), 1, shape + 1, owner) : Array(values->data(), 2, shape, owner);
}

// A parameter of one row is a vector, as in the model's file.
nb::dict arrays_of(std::vector<NamedMatrix> parameters) {
  nb::dict arrays;
  for (auto& [name, values] : parameters) {
    const bool is_vector = values.rows == 1;
    arrays[nb::cast(name)] = array_of(std::move(values), is_vector);
  }
  return arrays;
}

Stack stack_of(const std::string& name) {
  if (name == "encoder") return Stack::encoder;
  if (name == "decoder") return Stack::decoder;
  throw Error("unknown stack \"" + name + "\": use encoder or decoder", ErrorKind::usage);
}

// function(), without the global lock.
template <class Function>
auto unlocked(const Function& function) {
  const GilRelease release;
  return function();
}

Network* open_network(const std::string& folder, const std::string& device, int threads) {
  return unlocked([&] { return new Network(folder, {.device = device, .threads = threads}); });
}

Network* new_network(const nb::dict& options, int64_t source_vocabulary, int64_t target_vocabulary,
                     uint64_t seed, const std::string& device, int threads) {
  const NewNetwork model = {.options = options_of(options),
                            .source_vocabulary = source_vocabulary,
                            .target_vocabulary = target_vocabulary,
                            .seed = seed};
  return unlocked([&] { return new Network(model, {.device = device, .threads = threads}); });
}

std::vector<IdPair> pairs_of(const std::vector<std::pair<Ids, Ids>>& pairs) {
  std::vector<IdPair> all;
  for (const auto& [source, target] : pairs) all.push_back({source, target});
  return all;
}

std::pair<double, nb::dict> gradients(Network& network, const std::vector<std::pair<Ids, Ids>>& pairs,
                                      double label_smoothing) {
  Gradients found = unlocked([&] { return network.gradients(pairs_of(pairs), label_smoothing); });
  return {found.loss, arrays_of(std::move(found.values))};
}

void set_parameters(Network& network, const std::vector<std::pair<std::string, Rows>>& arrays) {
  std::vector<NamedMatrix> values;
  for (const auto& [name, rows] : arrays) values.push_back({name, matrix_of(rows)});
  unlocked([&] { network.set_parameters(values); });
}

void bind_pieces(nb::class_<Network>& network) {
  network
      .def(
          "embed",
          [](Network& n, const std::string& stack, const Ids& ids) {
            return array_of(unlocked([&] { return n.embed(stack_of(stack), ids); }));
          },
          nb::arg("stack"), nb::arg("ids"))
      .def(
          "positions",
          [](Network& n, const std::string& stack, int64_t count) {
            return array_of(unlocked([&] { return n.positions(stack_of(stack), count); }));
          },
          nb::arg("stack"), nb::arg("count"))
      .def(
          "self_attention",
          [](Network& n, const std::string& stack, int64_t layer, const Rows& x) {
            const Matrix rows = matrix_of(x);
            return array_of(unlocked([&] { return n.self_attention(stack_of(stack), layer, rows); }));
          },
          nb::arg("stack"), nb::arg("layer"), nb::arg("x"))
      .def(
          "cross_attention",
          [](Network& n, int64_t layer, const Rows& x, const Rows& memory) {
            const Matrix rows = matrix_of(x), source = matrix_of(memory);
            return array_of(unlocked([&] { return n.cross_attention(layer, rows, source); }));
          },
          nb::arg("layer"), nb::arg("x"), nb::arg("memory"))
      .def(
          "feed_forward",
          [](Network& n, const std::string& stack, int64_t layer, const Rows& x) {
            const Matrix rows = matrix_of(x);
            return array_of(unlocked([&] { return n.feed_forward(stack_of(stack), layer, rows); }));
          },
          nb::arg("stack"), nb::arg("layer"), nb::arg("x"));
}

}  // namespace

void bind_network(nb::module_& module) {
  nb::class_<Network> network(module, "Network");
  network.def(nb::new_(&open_network), nb::arg("folder"), nb::arg("device"), nb::arg("threads"))
      .def_static("random", &new_network, nb::arg("options"), nb::arg("source_vocabulary"),
                  nb::arg("target_vocabulary"), nb::arg("seed"), nb::arg("device"), nb::arg("threads"))
      .def(
          "encode",
          [](Network& n, const Ids& ids) { return array_of(unlocked([&] { return n.encode(ids); })); },
          nb::arg("ids"))
      .def(
          "decode",
          [](Network& n, const Ids& ids, const Rows& memory) {
            const Matrix rows = matrix_of(memory);
            return array_of(unlocked([&] { return n.decode(ids, rows); }));
          },
          nb::arg("ids"), nb::arg("memory"))
      .def(
          "logits",
          [](Network& n, const Rows& states) {
            const Matrix rows = matrix_of(states);
            return array_of(unlocked([&] { return n.logits(rows); }));
          },
          nb::arg("states"))
      .def(
          "loss",
          [](Network& n, const std::vector<std::pair<Ids, Ids>>& pairs, double label_smoothing) {
            return unlocked([&] { return n.loss(pairs_of(pairs), label_smoothing); });
          },
          nb::arg("pairs"), nb::arg("label_smoothing"))
      .def("gradients", &gradients, nb::arg("pairs"), nb::arg("label_smoothing"))
      .def("parameters", [](Network& n) { return arrays_of(unlocked([&] { return n.parameters(); })); })
      .def("set_parameters", &set_parameters, nb::arg("values"))
      .def("config", &Network::config)
      .def("save", &Network::save, nb::arg("folder"), nb::call_guard<GilRelease>());
  bind_pieces(network);
}

}  // namespace dragoman::python
