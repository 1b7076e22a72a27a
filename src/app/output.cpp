#include "app/output.h"

#include <iostream>

#include "base/files.h"

namespace dragoman {

void check_output(const std::string& out) {
  if (out != "-") check_writable(out);
}

void write_output(const std::string& out, const std::string& contents) {
  if (out == "-") {
    std::cout << contents;
  } else {
    write_file(out, {contents});
    std::cout << out << "\n";
  }
}

}  // namespace dragoman
