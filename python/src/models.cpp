// Model folders: importing, exporting, quantising, averaging; and pages about them.
#include <nanobind/stl/vector.h>

#include "binding.h"

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

std::vector<std::string> export_to(const std::string& folder, const std::string& format,
                                   const std::string& out) {
  if (format != "ctranslate2" && format != "huggingface")
    throw Error("unknown export format \"" + format + "\": use ctranslate2 or huggingface", ErrorKind::usage);
  const GilRelease release;
  return export_model(folder, format == "ctranslate2" ? ExportFormat::ctranslate2 : ExportFormat::huggingface,
                      out);
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
  module.def("export_model", &export_to, nb::arg("folder"), nb::arg("format"), nb::arg("out"));
  module.def(
      "quantize",
      [](const std::string& folder, const std::string& precision, const std::string& out) {
        quantize(folder, precision_of(precision), out);
      },
      nb::arg("folder"), nb::arg("precision"), nb::arg("out"), nb::call_guard<GilRelease>());
  module.def("average", &average, nb::arg("folders"), nb::arg("out"), nb::call_guard<GilRelease>());
  module.def("average_checkpoints", &average_checkpoints, nb::arg("folder"), nb::arg("newest"),
             nb::arg("out"), nb::call_guard<GilRelease>());
  module.def("inspection_page", &inspection_page, nb::arg("inspections"), nb::arg("model"));
  module.def("training_page", &training_page, nb::arg("folders"));
}

}  // namespace dragoman::python
