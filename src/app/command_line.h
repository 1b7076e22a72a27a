// A command's arguments: files by position, and options by name.
//
//   CommandLine line("train", "train a model from a recipe");
//   line.add_argument("RECIPE", recipe_path, "a TOML file");
//   line.add_options(options);
//   if (!line.parse(arguments)) return;   // --help was asked for, and printed
//   options.read_recipe_file(recipe_path);
//   line.set_flags();                     // the command line overrides the recipe
//
// Options and arguments may stand in any order:
//   --name VALUE, --name=VALUE   VALUE may begin with a dash. The last of several counts; a list collects all of them.
//   --name, --name true|false    for options that are true or false; --no-name is --name false
//   -n VALUE                     for options that have a letter
//   --                           everything that follows is an argument
//   --help, -h                   prints the help; --help=markdown prints the command's section of docs/options.md,
//                                and --help=completion what shells complete (app/completion.cpp)
//
// Anything else is a UsageError.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/options.h"

namespace dragoman::internal {

class CommandLine {
 public:
  // `call` is how a user runs it: by default `dragoman COMMAND`.
  CommandLine(std::string command, std::string summary, std::string call = "");

  // An argument. They are filled in the order of these calls; after one that is not required, no other may be.
  void add_argument(const std::string& name, std::string& variable, const std::string& help,
                    bool required = true);
  // All remaining arguments; one at least if required. The last call, if any.
  void add_arguments(const std::string& name, std::vector<std::string>& variables, const std::string& help,
                     bool required = true);
  // May be called several times: for a command's own options and for a recipe's.
  void add_options(Options& options);
  // The same for a group that several commands have. The documentation has only one table of it, with the defaults of
  // `table`; a command's section has a link, and says which of its own defaults are others.
  void add_shared_options(Options& options, const Options& table);

  // False if --help was asked for, and printed. set_flags() then sets what the flags say.
  bool parse(const std::vector<std::string>& words);
  void set_flags();
  bool read(const std::vector<std::string>& words);  // both

 private:
  struct Argument {
    std::string name, help;
    bool required;
    std::string* value;  // one of these two
    std::vector<std::string>* values;
  };
  struct Flag {
    Options* options;
    const Option* option;
    std::string name;  // as the command line has it: with dashes, and maybe the option's former name
    std::vector<std::string> values;
  };

  struct NamedOption {
    Options* options;
    const Option* option;
    bool negated;  // as --no-NAME
  };

  bool take_flag(const std::string& word, const std::string* next);
  std::optional<NamedOption> find_option(const std::string& name) const;
  Flag& flag_of(const NamedOption& option, const std::string& name);
  [[noreturn]] void refuse_unknown(const std::string& name) const;
  bool names_option(const std::string& word) const;
  void take_arguments(const std::vector<std::string>& words);
  std::string hint_about(const std::string& argument) const;
  bool print_help(const std::vector<std::string>& words) const;
  std::string usage() const;
  std::string help() const;
  std::string completion() const;
  std::string markdown() const;
  std::string group(const Options& options) const;

  std::string command_, summary_, call_;
  std::vector<Argument> arguments_;
  std::vector<Options*> options_;
  // The shared ones, and their own defaults: `--nbest 5`.
  std::map<const Options*, std::vector<std::string>> shared_;
  std::vector<Flag> flags_;  // those that were given
};

}  // namespace dragoman::internal
