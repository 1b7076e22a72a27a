// Text between Python and the library, whose strings are UTF-8 or what a file had instead. Used in place of nanobind's
// <stl/string.h>, which refuses a str that is not valid Unicode.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

namespace nanobind::detail {

// open(errors="surrogateescape") and file names have bytes that are not UTF-8 as lone surrogates: they become those
// bytes again, and come back as the same surrogates. Of other lone surrogates the library makes U+FFFD.
template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    PyObject* bytes = nullptr;
    for (const char* errors : {"surrogateescape", "surrogatepass"}) {
      bytes = PyUnicode_AsEncodedString(source.ptr(), "utf-8", errors);
      if (bytes != nullptr) break;
      PyErr_Clear();
    }
    if (bytes == nullptr) return false;  // out of memory
    value.assign(PyBytes_AsString(bytes), static_cast<size_t>(PyBytes_Size(bytes)));
    Py_DECREF(bytes);
    return true;
  }

  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  }
};

}  // namespace nanobind::detail
