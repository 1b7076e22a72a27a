// The program's commands, one function and one file each. They throw; main.cpp turns that into an exit code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.h"

namespace dragoman::internal {

using Arguments = std::vector<std::string>;  // what follows the command's name

void new_recipe(const Arguments& arguments);
void prepare(const Arguments& arguments);
void train(const Arguments& arguments);
void translate(const Arguments& arguments);
void score(const Arguments& arguments);
void evaluate(const Arguments& arguments);
void inspect(const Arguments& arguments);
void info(const Arguments& arguments);
void metrics(const Arguments& arguments);
void report(const Arguments& arguments);
void draw(const Arguments& arguments);
void average(const Arguments& arguments);
void quantize(const Arguments& arguments);
void import(const Arguments& arguments);
void get(const Arguments& arguments);
void export_model(const Arguments& arguments);
void bench(const Arguments& arguments);
void demo(const Arguments& arguments);
void serve(const Arguments& arguments);

struct Command {
  const char* name;
  const char* summary;
  void (*run)(const Arguments& arguments);
};

// In the order of `dragoman --help`.
inline constexpr Command commands[] = {
    {"new", "write a commented recipe for a corpus of your own", new_recipe},
    {"prepare", "learn the vocabularies, encode the corpus, and print its statistics", prepare},
    {"train", "train a model from a recipe", train},
    {"translate", "translate text, line by line", translate},
    {"serve", "translate over HTTP, for programs and for people", serve},
    {"score", "log-probabilities of given translations, end of sentence included", score},
    {"evaluate", "translate a test set, and print BLEU and chrF", evaluate},
    {"inspect", "show a translation's scores, alignment, and the attention of every head", inspect},
    {"info", "print a model's configuration, size, vocabulary and history, or check it for damage", info},
    {"metrics", "BLEU and chrF of given translations, as sacreBLEU computes them", metrics},
    {"report", "curves, samples and configurations of training runs, as one HTML page", report},
    {"draw", "the articles' figures as SVG: positions, causal mask, schedules, smoothing", draw},
    {"average", "average the weights of several models, or of a run's last checkpoints", average},
    {"quantize", "convert a model's weights to int8 or bf16, for faster translation", quantize},
    {"get", "download a published model, and import it", get},
    {"import", "convert another system's model into a model folder", import},
    {"export", "convert a model folder into another system's model", export_model},
    {"bench", "measure translation speed here, compared with the machine's limits", bench},
    {"demo", "train a small English-French translator in minutes, and try it", demo},
};

consteval const Command& command_named(std::string_view name) {
  for (const Command& command : commands) {
    if (name == command.name) return command;
  }
  throw "no such command";  // does not compile
}
consteval const char* summary_of(std::string_view name) { return command_named(name).summary; }

// For a command that takes options alone: declares them and reads them. False if --help was printed.
template <class Values>
bool read_options(const Command& command, Values& values, const Arguments& arguments) {
  Options options;
  declare(options, values);
  CommandLine line(command.name, command.summary);
  line.add_options(options);
  return line.read(arguments);
}

// Everything but the exit code: finds the command and runs it, or prints help or the version.
void run_program(const Arguments& arguments);

}  // namespace dragoman::internal
