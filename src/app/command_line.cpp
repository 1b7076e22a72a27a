#include "app/command_line.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/quotes.h"

namespace dragoman::internal {
namespace {

// A link to a heading, with the anchor that GitHub gives it.
std::string link_to(const std::string& text, const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto letter = static_cast<unsigned char>(c);
    if (c == ' ') anchor += '-';
    if (c == '_' || std::isalnum(letter) != 0) anchor += static_cast<char>(std::tolower(letter));
  }
  return fmt::format("[{}](#{})", text, anchor);
}

// The tables of a recipe that are among the options.
std::vector<std::string> links_to_tables(const Options& options) {
  std::vector<std::string> links;
  for (const Option& option : options.all()) {
    if (option.section.empty()) continue;
    const std::string link =
        link_to(fmt::format("`[{}]`", option.section), option.section + " " + options.title(option.section));
    if (std::ranges::count(links, link) == 0) links.push_back(link);
  }
  return links;
}

}  // namespace

CommandLine::CommandLine(std::string command, std::string summary, std::string call)
    : command_(std::move(command)),
      summary_(std::move(summary)),
      call_(call.empty() ? "dragoman " + command_ : std::move(call)) {}

void CommandLine::add_argument(const std::string& name, std::string& variable, const std::string& help,
                               bool required) {
  arguments_.push_back({name, help, required, &variable, nullptr});
}

void CommandLine::add_arguments(const std::string& name, std::vector<std::string>& variables,
                                const std::string& help, bool required) {
  arguments_.push_back({name + "...", help, required, nullptr, &variables});
}

void CommandLine::add_options(Options& options) { options_.push_back(&options); }

void CommandLine::add_shared_options(Options& options, const Options& table) {
  add_options(options);
  std::vector<std::string>& others = shared_[&options];
  for (const Option& option : options.all()) {
    const Option* listed = table.find(option.key());
    if (!listed || listed->default_value != option.default_value)
      others.push_back(fmt::format("`--{} {}`", option.key(), to_text(option.default_value)));
  }
}

bool CommandLine::parse(const std::vector<std::string>& words) {
  if (print_help(words)) return false;
  flags_.clear();
  std::vector<std::string> arguments;
  bool only_arguments = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (only_arguments || word.size() < 2 || word[0] != '-') {
      arguments.push_back(word);
    } else if (word == "--") {
      only_arguments = true;
    } else if (take_flag(word, i + 1 < words.size() ? &words[i + 1] : nullptr)) {
      ++i;
    }
  }
  take_arguments(arguments);
  return true;
}

// However wrong the rest of the line is.
bool CommandLine::print_help(const std::vector<std::string>& words) const {
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word == "--help" || word == "-h") return std::cout << help(), true;
    if (word == "--help=completion") return std::cout << completion(), true;
    if (word == "--help=markdown") return std::cout << markdown(), true;
  }
  return false;
}

// Whether the word that follows the flag was its value.
bool CommandLine::take_flag(const std::string& word, const std::string* next) {
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::optional<NamedOption> option = find_option(name);
  if (!option) refuse_unknown(name);
  Flag& flag = flag_of(*option, name);
  if (option->negated) {
    if (equals != word.npos) throw UsageError("{}: {} takes no value", command_, name);
    flag.values.push_back("false");
    return false;
  }
  if (equals != word.npos) {
    flag.values.push_back(word.substr(equals + 1));
    return false;
  }
  if (flag.option->is_switch && (!next || (*next != "true" && *next != "false"))) {
    flag.values.push_back("true");
    return false;
  }
  if (!next) throw UsageError("{}: {} needs a value", command_, word);
  if (names_option(*next))
    throw UsageError("{}: {} needs a value, and {} is the next option: write {}=VALUE", command_, word,
                     shortened(*next), word);
  flag.values.push_back(*next);
  return true;
}

bool CommandLine::names_option(const std::string& word) const {
  return word.starts_with("--") && find_option(word.substr(0, word.find('='))).has_value();
}

std::optional<CommandLine::NamedOption> CommandLine::find_option(const std::string& name) const {
  const bool is_letter = name.size() == 2 && name[0] == '-';
  for (Options* options : options_) {
    const Option* option = is_letter ? options->find(name[1]) : nullptr;
    if (!option && name.starts_with("--")) option = options->find(name.substr(2));
    if (option) return NamedOption{options, option, false};
    if (!name.starts_with("--no-")) continue;
    option = options->find(name.substr(5));
    if (option && option->is_switch) return NamedOption{options, option, true};
  }
  return std::nullopt;
}

CommandLine::Flag& CommandLine::flag_of(const NamedOption& option, const std::string& name) {
  const std::string full = name.starts_with("--") ? name : "--" + option.option->key();
  const auto given = std::ranges::find(flags_, option.option, &Flag::option);
  if (given == flags_.end()) return flags_.emplace_back(Flag{option.options, option.option, full, {}});
  if (given->name == full) return *given;
  throw UsageError("{}: {} and {} are the same option: remove one of them", command_, given->name, full);
}

void CommandLine::refuse_unknown(const std::string& name) const {
  std::vector<std::string> known = {"--help"};
  const size_t dot = name.find('.');
  std::string bare = name.substr(dot != name.npos ? dot + 1 : std::min<size_t>(2, name.size()));
  std::ranges::replace(bare, '-', '_');
  std::vector<const Option*> elsewhere;  // of the same name, in a table that was not given, or in another
  for (const Options* options : options_) {
    for (const Option& option : options->all()) {
      known.push_back("--" + option.key());
      if (!option.section.empty() && option.name == bare) elsewhere.push_back(&option);
    }
  }
  throw UsageError("{}: unknown option {}{}", command_, shortened(name),
                   elsewhere.size() == 1 ? fmt::format("; did you mean --{}?", elsewhere[0]->key())
                                         : suggestion(name, known));
}

void CommandLine::take_arguments(const std::vector<std::string>& words) {
  size_t taken = 0;
  for (const Argument& argument : arguments_) {
    const size_t left = words.size() - taken;
    if (argument.required && left == 0)
      throw UsageError("{}: missing {} ({}): see {} --help", command_, argument.name, argument.help, call_);
    if (argument.value) {
      if (left > 0) *argument.value = words[taken++];
    } else {
      argument.values->assign(words.end() - static_cast<std::ptrdiff_t>(left), words.end());
      taken = words.size();
    }
  }
  if (taken < words.size())
    throw UsageError("{}: unexpected argument \"{}\"{}", command_, shortened(words[taken]),
                     hint_about(words[taken]));
}

// A model's folder where the command has an option for it, or where to read what the command takes.
std::string CommandLine::hint_about(const std::string& argument) const {
  std::error_code none;
  if (find_option("--model") && std::filesystem::exists(argument + "/config.json", none))
    return fmt::format("; did you mean --model {}?", shortened(argument));
  return fmt::format(": see {} --help", call_);
}

bool CommandLine::read(const std::vector<std::string>& words) {
  if (!parse(words)) return false;
  set_flags();
  return true;
}

void CommandLine::set_flags() {
  for (const Flag& flag : flags_) {
    flag.options->set_flag(flag.option->key(), flag.option->is_list()
                                                   ? fmt::format("{}", fmt::join(flag.values, ","))
                                                   : flag.values.back());
  }
}

std::string CommandLine::usage() const {
  std::string usage = call_;
  for (const Argument& argument : arguments_)
    usage += argument.required ? " " + argument.name : " [" + argument.name + "]";
  return usage + (options_.empty() ? "" : " [--OPTION VALUE ...]");
}

std::string CommandLine::help() const {
  std::string text = fmt::format("{}: {}\n\nusage: {}\n\n", command_, summary_, usage());
  for (const Argument& argument : arguments_) text += help_line(argument.name, argument.help);
  if (!arguments_.empty() && !options_.empty()) text += "\n";
  for (const Options* options : options_) text += options->help();
  if (!options_.empty()) text += "In brackets: the default, and the allowed values.\n";
  return text;
}

// A line for each option: its name, what its value is, its help.
std::string CommandLine::completion() const {
  std::string text;
  for (const Options* options : options_) {
    for (const Option& option : options->all()) {
      for (const std::string& key : {option.key(), option.short_key})
        if (!key.empty()) text += fmt::format("--{}:{}:{}\n", key, option.kind, option.help);
    }
  }
  return text + "--help::print the options\n";
}

// The page lists a recipe's tables, and groups that several commands have, only once.
std::string CommandLine::markdown() const {
  std::string sentence = summary_ + ".";
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  std::string text = fmt::format("## `{}`\n\n{}\n\n    {}\n\n", call_, sentence, usage());
  for (const Argument& argument : arguments_)
    text += fmt::format("`{}`: {}.\n\n", argument.name, argument.help);
  std::vector<std::string> tables;
  for (const Options* options : options_) {
    if (std::ranges::count(options->all(), "", &Option::section) > 0) text += group(*options);
    for (const std::string& link : links_to_tables(*options)) tables.push_back(link);
  }
  if (tables.empty()) return text;
  return text +
         fmt::format("Also the options of {}, as above: `--model.d_model 512`.\n\n", fmt::join(tables, ", "));
}

// A command's own group as a table, a shared one as a link.
std::string CommandLine::group(const Options& options) const {
  const std::string& title = options.title("");
  const auto shared = shared_.find(&options);
  if (shared == shared_.end()) return fmt::format("### {}\n\n{}\n", title, options.markdown(""));
  const std::vector<std::string>& others = shared->second;
  const std::string defaults =
      others.empty() ? "" : fmt::format(", here with {} by default", fmt::join(others, ", "));
  return fmt::format("Also the options of {}{}.\n\n", link_to(title, title), defaults);
}

}  // namespace dragoman::internal
