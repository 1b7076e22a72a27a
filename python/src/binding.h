// What the files of the extension module share. Python's side of each function is in python/dragoman/, where arguments
// have defaults and documentation; here are plain types.
#pragma once

#include <dragoman/dragoman.h>
#include <nanobind/nanobind.h>

#include "gil.h"
#include "text.h"

namespace dragoman::python {

namespace nb = nanobind;

// {"beam": 4, "length-penalty": 1.0}. A TypeError names an option whose value no option can have.
Options options_of(const nb::dict& values);

Precision precision_of(const std::string& name);  // "": as saved

void bind_errors(nb::module_& module);
void bind_log(nb::module_& module);
void renew_log();  // in a forked child
void bind_caller(nb::module_& module);
void bind_translator(nb::module_& module);
void bind_texts(nb::module_& module);  // metrics, glossaries, documents
void bind_models(nb::module_& module);
void bind_training(nb::module_& module);
void bind_network(nb::module_& module);

}  // namespace dragoman::python
