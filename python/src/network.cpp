// The pieces of a model, on arrays.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "binding.h"
#include "matrix.h"

namespace dragoman::python {
namespace {

using Pairs = std::vector<std::pair<Ids, Ids>>;

std::vector<IdPair> pairs_of(const Pairs& pairs) {
  std::vector<IdPair> all;
  for (const auto& [source, target] : pairs) all.push_back({source, target});
  return all;
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

Network* new_network(const nb::dict& options, int64_t source_vocabulary, int64_t target_vocabulary,
                     uint64_t seed, const std::string& device, int threads) {
  const NewNetwork model = {.options = options_of(options),
                            .source_vocabulary = source_vocabulary,
                            .target_vocabulary = target_vocabulary,
                            .seed = seed};
  const GilRelease release;
  return new Network(model, {.device = device, .threads = threads});
}

Network* open_network(const std::string& folder, const std::string& device, int threads) {
  const GilRelease release;
  return new Network(folder, {.device = device, .threads = threads});
}

double loss(Network& network, const Pairs& pairs, double label_smoothing) {
  return network.loss(pairs_of(pairs), label_smoothing);
}

std::pair<double, nb::dict> gradients(Network& network, const Pairs& pairs, double label_smoothing) {
  Gradients found;
  {
    const GilRelease release;
    found = network.gradients(pairs_of(pairs), label_smoothing);
  }
  return {found.loss, arrays_of(std::move(found.values))};
}

nb::dict parameters(Network& network) {
  std::vector<NamedMatrix> found;
  {
    const GilRelease release;
    found = network.parameters();
  }
  return arrays_of(std::move(found));
}

void set_parameters(Network& network, const std::vector<std::pair<std::string, Matrix>>& values) {
  std::vector<NamedMatrix> named;
  for (const auto& [name, matrix] : values) named.push_back({name, matrix});
  network.set_parameters(named);
}

}  // namespace

void bind_network(nb::module_& module) {
  nb::enum_<Stack>(module, "Stack").value("encoder", Stack::encoder).value("decoder", Stack::decoder);
  const nb::call_guard<GilRelease> unlocked;
  nb::class_<Network>(module, "Network")
      .def(nb::new_(&open_network), nb::arg("folder"), nb::arg("device"), nb::arg("threads"))
      .def_static("random", &new_network, nb::arg("options"), nb::arg("source_vocabulary"),
                  nb::arg("target_vocabulary"), nb::arg("seed"), nb::arg("device"), nb::arg("threads"))
      .def("encode", &Network::encode, nb::arg("source"), unlocked)
      .def("decode", &Network::decode, nb::arg("target"), nb::arg("memory"), unlocked)
      .def("logits", &Network::logits, nb::arg("states"), unlocked)
      .def("embed", &Network::embed, nb::arg("stack"), nb::arg("ids"), unlocked)
      .def("positions", &Network::positions, nb::arg("stack"), nb::arg("count"), unlocked)
      .def("self_attention", &Network::self_attention, nb::arg("stack"), nb::arg("layer"), nb::arg("x"),
           unlocked)
      .def("cross_attention", &Network::cross_attention, nb::arg("layer"), nb::arg("x"), nb::arg("memory"),
           unlocked)
      .def("feed_forward", &Network::feed_forward, nb::arg("stack"), nb::arg("layer"), nb::arg("x"), unlocked)
      .def("loss", &loss, nb::arg("pairs"), nb::arg("label_smoothing"), unlocked)
      .def("gradients", &gradients, nb::arg("pairs"), nb::arg("label_smoothing"))
      .def("source_ids", &Network::source_ids, nb::arg("text"), nb::arg("source_language"),
           nb::arg("target_language"), unlocked)
      .def("target_ids", &Network::target_ids, nb::arg("text"), nb::arg("source_language"),
           nb::arg("target_language"), unlocked)
      .def("target_text", &Network::target_text, nb::arg("ids"), unlocked)
      .def("parameters", &parameters)
      .def("set_parameters", &set_parameters, nb::arg("values"), unlocked)
      .def("config", &Network::config)
      .def("save", &Network::save, nb::arg("folder"), unlocked);
}

}  // namespace dragoman::python
