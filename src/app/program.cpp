#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "app/commands.h"
#include "base/build.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/quotes.h"

namespace dragoman::internal {
namespace {

std::string program_help() {
  std::string text =
      "Dragoman trains neural machine translation models, and translates with them.\n\n"
      "usage: dragoman COMMAND [ARGUMENT ...]\n\n";
  for (const Command& command : commands) text += fmt::format("  {:<12}{}\n", command.name, command.summary);
  return text +
         "\ndragoman COMMAND --help lists the options of a command; dragoman --version prints the version.\n";
}

// Help ends with examples.
void run_command(const Command& command, const Arguments& arguments) {
  command.run(arguments);
  const auto end = std::ranges::find(arguments, "--");
  if (std::any_of(arguments.begin(), end,
                  [](const std::string& word) { return word == "--help" || word == "-h"; }))
    std::cout << "\nExamples\n" << command.examples;
}

// As CommandLine prints options.
void print_commands() {
  for (const Command& command : commands) std::cout << fmt::format("{}::{}\n", command.name, command.summary);
}

}  // namespace

void run_program(const Arguments& arguments) {
  if (arguments.empty()) return void(std::cout << program_help());
  const std::string& name = arguments.front();
  if (name == "--help=completion") return print_commands();
  if (name == "help" && arguments.size() > 1) return run_program({arguments[1], "--help"});
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
    if (name == command.name) return run_command(command, {arguments.begin() + 1, arguments.end()});
    names.push_back(command.name);
  }
  if (name.starts_with('-') && arguments.size() > 1)
    throw UsageError(
        "{} is before a command: write dragoman COMMAND {} ..., with a command that dragoman --help lists",
        shortened(name), shortened(name));
  names.insert(names.end(), {"--help", "--version"});
  const std::string meant = suggestion(name, names);
  throw UsageError("unknown command {}{} dragoman --help lists all", shortened(name),
                   meant.empty() ? ":" : meant);
}

}  // namespace dragoman::internal
