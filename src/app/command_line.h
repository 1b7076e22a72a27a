// A command's arguments: files by their place, and options by name.
//
//   CommandLine line("train", "learn a model as a recipe says");
//   line.add_argument("RECIPE", recipe_path, "a TOML file");
//   line.add_options(options);
//   if (!line.parse(arguments)) return;   // --help was asked for, and printed
//   options.read_recipe_file(recipe_path);
//   line.set_flags();                     // what the command line says overrides the recipe
//
// What cannot be understood is a UsageError.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/options.h"

namespace dragoman {

class CommandLine {
 public:
  CommandLine(const std::string& command, const std::string& summary);
  ~CommandLine();

  // An argument that must be given, in the order of these calls.
  void add_argument(const std::string& name, std::string& variable, const std::string& help);
  // The same for one or more of them, or for any number: the last call, if any.
  void add_arguments(const std::string& name, std::vector<std::string>& variables, const std::string& help,
                     bool required = true);
  // May be called for several: a command's own and a recipe's.
  void add_options(Options& options);

  // Of a flag that is given twice the last one holds; a list takes all of them.
  bool parse(const std::vector<std::string>& arguments);
  void set_flags();

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace dragoman
