// Training, with callbacks in Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "long_call.h"

namespace dragoman::python {
namespace {

Resume resume_of(const std::string& name) {
  if (name == "automatic" || name == "auto") return Resume::automatic;
  if (name == "never") return Resume::never;
  if (name == "require") return Resume::require;
  throw Error("unknown value of resume: \"" + name + "\"; use automatic, never or require", ErrorKind::usage);
}

// The callback of a call, on the Python thread; none for None.
template <class News>
std::function<void(const News&)> told(LongCall& call, const nb::object& function) {
  if (function.is_none()) return {};
  return [&](const News& news) { call.call_back([&] { function(news); }); };
}

TrainingResult run(const std::string& recipe, const nb::dict& options, const std::string& out,
                   const std::string& resume, const std::string& init_from, const nb::object& on_step,
                   const nb::object& on_validation) {
  TrainingRequest request = {.recipe = recipe,
                             .options = options_of(options),
                             .out = out,
                             .resume = resume_of(resume),
                             .init_from = init_from};
  return in_long_call([&](LongCall& call) {
    request.on_step = told<TrainingStep>(call, on_step);
    request.on_validation = told<ValidationResult>(call, on_validation);
    request.stop = call.stop_token();
    return train(request);
  });
}

}  // namespace

void bind_training(nb::module_& module) {
  nb::class_<TrainingStep>(module, "TrainingStep")
      .def_ro("step", &TrainingStep::step)
      .def_ro("epoch", &TrainingStep::epoch)
      .def_ro("loss", &TrainingStep::loss)
      .def_ro("learning_rate", &TrainingStep::learning_rate)
      .def_ro("gradient_norm", &TrainingStep::gradient_norm)
      .def_ro("tokens_per_second", &TrainingStep::tokens_per_second)
      .def_ro("seconds", &TrainingStep::seconds);
  nb::class_<SampleTranslation>(module, "SampleTranslation")
      .def_ro("source", &SampleTranslation::source)
      .def_ro("reference", &SampleTranslation::reference)
      .def_ro("translation", &SampleTranslation::translation);
  nb::class_<ValidationResult>(module, "ValidationResult")
      .def_ro("step", &ValidationResult::step)
      .def_ro("epoch", &ValidationResult::epoch)
      .def_ro("loss", &ValidationResult::loss)
      .def_ro("bleu", &ValidationResult::bleu)
      .def_ro("chrf", &ValidationResult::chrf)
      .def_ro("exact_match", &ValidationResult::exact_match)
      .def_ro("best", &ValidationResult::best)
      .def_ro("samples", &ValidationResult::samples);
  nb::class_<TrainingResult>(module, "TrainingResult")
      .def_ro("folder", &TrainingResult::folder)
      .def_ro("steps", &TrainingResult::steps)
      .def_ro("stopped", &TrainingResult::stopped);
  module.def("train", &run, nb::arg("recipe"), nb::arg("options"), nb::arg("out"), nb::arg("resume"),
             nb::arg("init_from"), nb::arg("on_step").none(), nb::arg("on_validation").none());
}

}  // namespace dragoman::python
