// dragoman::Error becomes one of the classes in python/dragoman/_errors.py, by its kind.
#include "binding.h"

namespace dragoman::python {
namespace {

const char* class_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "UsageError";
    case ErrorKind::cancelled:
      return "Cancelled";
    case ErrorKind::expired:
      return "Expired";
    case ErrorKind::internal:
      return "InternalError";
    case ErrorKind::failure:
      break;
  }
  return "Error";
}

void raise(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object type = nb::module_::import_("dragoman._errors").attr(class_of(error.kind()));
    PyErr_SetObject(type.ptr(), nb::cast(std::string(error.what())).ptr());  // which may name any file
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(raise); }

}  // namespace dragoman::python
