#include <nanobind/stl/vector.h>

#include "binding.h"

namespace dragoman::python {
namespace {

OptionValue value_of(const std::string& name, nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);  // before integers: a bool is one
  if (nb::isinstance<nb::int_>(value)) {
    if (int64_t number = 0; nb::try_cast(value, number)) return number;
    throw Error("option \"" + name + "\" cannot be " + nb::cast<std::string>(nb::str(value)) +
                    ": use a number of at most 63 bits",
                ErrorKind::usage);
  }
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (std::vector<std::string> texts; nb::try_cast(value, texts)) return texts;
  if (std::vector<double> numbers; nb::try_cast(value, numbers)) return numbers;
  const std::string type = nb::cast<std::string>(nb::str(value.type().attr("__name__")));
  throw nb::type_error(("option \"" + name + "\" cannot be a " + type +
                        ": use a bool, a number, a string, or a list of strings or numbers")
                           .c_str());
}

}  // namespace

Options options_of(const nb::dict& values) {
  Options options;
  for (const auto& [name, value] : values) {
    if (!nb::isinstance<nb::str>(name))
      throw nb::type_error("the name of an option must be a str: use \"training.max_steps\" or the like");
    const std::string key = nb::cast<std::string>(name);
    options.emplace_back(key, value_of(key, value));
  }
  return options;
}

Precision precision_of(const std::string& name) {
  if (name.empty()) return Precision::as_saved;
  if (name == "fp32") return Precision::fp32;
  if (name == "bf16") return Precision::bf16;
  if (name == "int8") return Precision::int8;
  throw Error("unknown precision \"" + name + "\": use fp32, bf16 or int8", ErrorKind::usage);
}

}  // namespace dragoman::python
