// Model folders: importing, exporting, quantising, averaging, calibrating; and pages about them.
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "long_call.h"

namespace dragoman::python {
namespace {

ImportResult import(const std::string& source, const std::string& out, const std::string& format,
                    const std::vector<std::string>& vocabularies, const std::string& from,
                    const std::string& to, const std::string& precision) {
  const GilRelease release;
  return import_model({.source = source,
                       .out = out,
                       .format = format,
                       .vocabularies = vocabularies,
                       .from = from,
                       .to = to,
                       .precision = precision_of(precision)});
}

ExportFormat export_format(const std::string& name) {
  if (name == "ctranslate2") return ExportFormat::ctranslate2;
  if (name == "huggingface") return ExportFormat::huggingface;
  if (name == "marian") return ExportFormat::marian;
  if (name == "bergamot") return ExportFormat::bergamot;
  throw Error("unknown export format \"" + name + "\": use ctranslate2, huggingface, marian or bergamot",
              ErrorKind::usage);
}

std::vector<std::string> export_to(const std::string& folder, const std::string& format,
                                   const std::string& out, const std::string& calibration_text) {
  const ExportFormat to = export_format(format);
  const GilRelease release;
  return export_model(folder, to, out, calibration_text);
}

CalibrationResult calibrated(const std::string& folder, const std::vector<std::string>& sources,
                             const std::vector<std::string>& references, int threads) {
  if (sources.size() != references.size())
    throw Error("there are " + std::to_string(sources.size()) + " sources and " +
                    std::to_string(references.size()) + " references: each needs its own",
                ErrorKind::usage);
  std::vector<TextPair> pairs;
  for (size_t i = 0; i < sources.size(); ++i) pairs.push_back({sources[i], references[i]});
  return in_long_call([&](LongCall& call) {
    return calibrate(folder, pairs, {.translator = {.threads = threads}, .stop = call.stop_token()});
  });
}

void bind_confidence(nb::module_& module) {
  nb::class_<Finding>(module, "Finding")
      .def_ro("check", &Finding::check)
      .def_ro("extra", &Finding::extra)
      .def_ro("text", &Finding::text)
      .def_ro("description", &Finding::description);
  module.def("check_translation", &check_translation, nb::arg("source"), nb::arg("translation"),
             nb::arg("source_language"), nb::arg("target_language"), nb::call_guard<GilRelease>());
  nb::class_<CalibrationResult>(module, "CalibrationResult")
      .def_ro("texts", &CalibrationResult::texts)
      .def_ro("words", &CalibrationResult::words)
      .def_ro("right_words", &CalibrationResult::right_words)
      .def_ro("good_texts", &CalibrationResult::good_texts)
      .def_ro("word_error_before", &CalibrationResult::word_error_before)
      .def_ro("word_error_after", &CalibrationResult::word_error_after)
      .def_ro("text_error_before", &CalibrationResult::text_error_before)
      .def_ro("text_error_after", &CalibrationResult::text_error_after)
      .def_ro("correlation_before", &CalibrationResult::correlation_before)
      .def_ro("correlation_after", &CalibrationResult::correlation_after);
  module.def("calibrate", &calibrated, nb::arg("folder"), nb::arg("sources"), nb::arg("references"),
             nb::arg("threads"));
}

}  // namespace

void bind_models(nb::module_& module) {
  nb::class_<ImportResult>(module, "ImportResult")
      .def_ro("system", &ImportResult::system)
      .def_ro("choices", &ImportResult::choices)
      .def_ro("source_language", &ImportResult::source_language)
      .def_ro("needs_languages", &ImportResult::needs_languages)
      .def_ro("integers", &ImportResult::integers);
  module.def("import_model", &import, nb::arg("source"), nb::arg("out"), nb::arg("format"),
             nb::arg("vocabularies"), nb::arg("source_language"), nb::arg("target_language"),
             nb::arg("precision"));
  module.def("export_model", &export_to, nb::arg("folder"), nb::arg("format"), nb::arg("out"),
             nb::arg("calibration_text"));
  module.def(
      "quantize",
      [](const std::string& folder, const std::string& precision, const std::string& out) {
        quantize(folder, precision_of(precision), out);
      },
      nb::arg("folder"), nb::arg("precision"), nb::arg("out"), nb::call_guard<GilRelease>());
  module.def("average", &average, nb::arg("folders"), nb::arg("out"), nb::call_guard<GilRelease>());
  module.def("average_checkpoints", &average_checkpoints, nb::arg("folder"), nb::arg("newest"),
             nb::arg("out"), nb::call_guard<GilRelease>());
  module.def("inspection_page", &inspection_page, nb::arg("inspections"), nb::arg("model"),
             nb::call_guard<GilRelease>());
  module.def("training_page", &training_page, nb::arg("folders"), nb::call_guard<GilRelease>());
  bind_confidence(module);
}

}  // namespace dragoman::python
