#include "app/command_line.h"

#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"

namespace dragoman {

struct CommandLine::Parser {
  CLI::App app;
  struct Argument {
    std::string name, help;
    CLI::Option* parsed;
    bool required = true;
  };
  std::vector<Argument> arguments;
  struct Flag {
    Options* options;
    std::string key;
    CLI::Option* parsed;
    bool is_switch, is_list;
  };
  std::vector<Options*> options;
  std::vector<Flag> flags;

  std::string help() const;
  std::vector<std::string> with_joined_switches(const std::vector<std::string>& words) const;
  void refuse_the_rest() const;
};

std::string CommandLine::Parser::help() const {
  std::string usage = "dragoman " + app.get_name();
  std::string list;
  for (const Argument& argument : arguments) {
    usage += argument.required ? " " + argument.name : " [" + argument.name + "]";
    list += fmt::format("  {:<34}{}\n", argument.name, argument.help);
  }
  if (!options.empty()) usage += " [--OPTION VALUE ...]";
  std::string text = fmt::format("{}: {}\n\nusage: {}\n\n", app.get_name(), app.get_description(), usage);
  if (!list.empty()) text += list + "\n";
  for (const Options* some : options) text += some->help();
  if (!options.empty()) text += "In brackets: what holds where nothing is said, and what may be said.\n";
  return text;
}

// A switch takes no word that follows it, but true and false are none that a command could want for itself:
// --switch false becomes --switch=false.
std::vector<std::string> CommandLine::Parser::with_joined_switches(
    const std::vector<std::string>& words) const {
  std::vector<std::string> joined;
  bool after_switch = false;
  for (const std::string& word : words) {
    if (after_switch && (word == "true" || word == "false")) {
      joined.back() += "=" + word;
    } else {
      joined.push_back(word);
    }
    after_switch = std::ranges::any_of(
        flags, [&](const Flag& flag) { return flag.is_switch && word == "--" + flag.key; });
  }
  return joined;
}

// What no argument and no option took.
void CommandLine::Parser::refuse_the_rest() const {
  std::vector<std::string> known = {"--help"};
  for (const Flag& flag : flags) known.push_back("--" + flag.key);
  for (const std::string& word : app.remaining()) {
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string name = word.substr(0, word.find('='));
    throw UsageError("{} has no option {}; the nearest one is {}", app.get_name(), name,
                     nearest(name, known));
  }
  for (const std::string& word : app.remaining()) {
    throw UsageError("{} takes {} argument{}, and \"{}\" is one too many", app.get_name(), arguments.size(),
                     arguments.size() == 1 ? "" : "s", word);
  }
}

CommandLine::CommandLine(const std::string& command, const std::string& summary) : parser_(new Parser) {
  parser_->app.name(command);
  parser_->app.description(summary);
  parser_->app.allow_extras();
}

CommandLine::~CommandLine() = default;

void CommandLine::add_argument(const std::string& name, std::string& variable, const std::string& help) {
  parser_->arguments.push_back({name, help, parser_->app.add_option(name, variable)});
}

void CommandLine::add_arguments(const std::string& name, std::vector<std::string>& variables,
                                const std::string& help, bool required) {
  parser_->arguments.push_back({name + "...", help, parser_->app.add_option(name, variables), required});
}

void CommandLine::add_options(Options& options) {
  parser_->options.push_back(&options);
  for (const Option& option : options.all()) {
    const std::string flag = "--" + option.key();
    CLI::Option* parsed = option.is_flag ? parser_->app.add_flag(flag) : parser_->app.add_option(flag);
    parsed->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    const bool is_list = std::holds_alternative<std::vector<std::string>>(option.default_value);
    parser_->flags.push_back({&options, option.key(), parsed, option.is_flag, is_list});
  }
}

bool CommandLine::parse(const std::vector<std::string>& arguments) {
  try {
    std::vector<std::string> words = parser_->with_joined_switches(arguments);
    std::ranges::reverse(words);  // CLI11 takes from the back
    parser_->app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    std::cout << parser_->help();
    return false;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();  // "--name: 1 required missing"
    throw UsageError("{}: {} needs a value", parser_->app.get_name(), what.substr(0, what.find(':')));
  } catch (const CLI::ParseError& error) {
    throw UsageError("{}: {}", parser_->app.get_name(), error.what());
  }
  parser_->refuse_the_rest();
  for (const Parser::Argument& argument : parser_->arguments) {
    if (argument.required && argument.parsed->count() == 0) {
      throw UsageError("{} needs {}, {}: see dragoman {} --help", parser_->app.get_name(), argument.name,
                       argument.help, parser_->app.get_name());
    }
  }
  return true;
}

void CommandLine::set_flags() {
  for (const Parser::Flag& flag : parser_->flags) {
    if (flag.parsed->count() == 0) continue;
    const std::vector<std::string>& given = flag.parsed->results();
    flag.options->set_flag(flag.key, flag.is_list ? fmt::format("{}", fmt::join(given, ",")) : given.back());
  }
}

}  // namespace dragoman
