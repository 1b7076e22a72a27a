// dragoman._core
#include "binding.h"

NB_MODULE(_core, module) {
  using namespace dragoman::python;
  module.attr("__version__") = dragoman::version();
  bind_errors(module);
  bind_translator(module);
  bind_texts(module);
  bind_models(module);
  bind_training(module);
}
