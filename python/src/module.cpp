// dragoman._core
#include "binding.h"

NB_MODULE(_core, module) {
  using namespace dragoman::python;
  nb::set_leak_warnings(false);  // daemon threads, which sleep when Python has ended, keep what they use
  module.attr("__version__") = dragoman::version();
  bind_errors(module);
  bind_log(module);
  bind_caller(module);
  bind_translator(module);
  bind_texts(module);
  bind_models(module);
  bind_training(module);
  bind_network(module);
}
