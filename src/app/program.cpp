#include <iostream>

#include <fmt/format.h>

#include "app/commands.h"
#include "base/build.h"
#include "base/error.h"
#include "base/nearest.h"

namespace dragoman {
namespace {

std::string program_help() {
  std::string text =
      "Dragoman translates between languages, and learns to.\n\nusage: dragoman COMMAND ...\n\n";
  for (const Command& command : commands) text += fmt::format("  {:<12}{}\n", command.name, command.summary);
  return text + "\ndragoman COMMAND --help tells more; dragoman --version says which this is.\n";
}

}  // namespace

void run_program(const Arguments& arguments) {
  if (arguments.empty()) throw UsageError("which command? dragoman --help lists them");
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    std::cout << program_help();
    return;
  }
  if (name == "--version") {
    std::cout << "dragoman " << version() << "\n";
    return;
  }
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (name == command.name) return command.run({arguments.begin() + 1, arguments.end()});
    names.push_back(command.name);
  }
  throw UsageError("there is no command {}; the nearest one is {}, and dragoman --help lists all", name,
                   nearest(name, names));
}

}  // namespace dragoman
