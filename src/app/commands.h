// The program's commands, one function and one file each. They throw; main.cpp turns that into an exit code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.h"

namespace dragoman::internal {

using Arguments = std::vector<std::string>;  // what follows the command's name

void new_recipe(const Arguments& arguments);
void clean(const Arguments& arguments);
void prepare(const Arguments& arguments);
void train(const Arguments& arguments);
void translate(const Arguments& arguments);
void generate(const Arguments& arguments);
void score(const Arguments& arguments);
void align(const Arguments& arguments);
void calibrate(const Arguments& arguments);
void evaluate(const Arguments& arguments);
void inspect(const Arguments& arguments);
void explain(const Arguments& arguments);
void info(const Arguments& arguments);
void metrics(const Arguments& arguments);
void rerank(const Arguments& arguments);
void report(const Arguments& arguments);
void draw(const Arguments& arguments);
void average(const Arguments& arguments);
void quantize(const Arguments& arguments);
void import(const Arguments& arguments);
void get(const Arguments& arguments);
void export_model(const Arguments& arguments);
void bench(const Arguments& arguments);
void memory(const Arguments& arguments);
void student(const Arguments& arguments);
void adapt(const Arguments& arguments);
void demo(const Arguments& arguments);
void serve(const Arguments& arguments);
void completion(const Arguments& arguments);

struct Command {
  const char* name;
  const char* summary;
  void (*run)(const Arguments& arguments);
  const char* examples;  // what a user would type first, a line each
};

// In the order of `dragoman --help`.
inline constexpr Command commands[] = {
    {"new", "write a commented recipe for a corpus of your own", new_recipe,
     "  dragoman new --source mine.en --target mine.fr\n"},
    {"clean", "leave out the pairs of a parallel text that are no translations of each other", clean,
     "  dragoman clean --source raw.en --target raw.fr --from en --to fr --out-source clean.en --out-target "
     "clean.fr\n"
     "  dragoman clean --tsv raw.tsv.gz --show-dropped 5 > clean.tsv\n"},
    {"prepare", "learn the vocabularies, encode the corpus, and print its statistics", prepare,
     "  dragoman prepare recipes/demo.toml --show 5\n"},
    {"train", "train a model from a recipe", train,
     "  dragoman train recipes/demo.toml\n"
     "  dragoman train recipes/demo.toml --training.max_minutes 30 --out models/longer\n"},
    {"translate", "translate text, line by line", translate,
     "  dragoman translate -m models/demo \"Where is the station?\"\n"
     "  dragoman translate -m models/demo news.en > news.fr\n"
     "  dragoman translate -m models/demo --document letter.docx --to fr\n"},
    {"serve", "translate over HTTP, for programs and for people", serve,
     "  dragoman serve -m models/demo\n"
     "  dragoman serve -m en-fr=models/demo --port 8080\n"
     "  dragoman serve -m models/demo --memory memories/mine --adapt-every 6\n"},
    {"generate", "continue texts with a language model", generate,
     "  dragoman generate -m models/tatoeba-en-lm --text \"Once upon a time\"\n"},
    {"score", "log-probabilities of given translations, end of sentence included", score,
     "  dragoman score -m models/demo --source test.en --target test.fr\n"},
    {"align", "links between the words of two files that are translations, line by line", align,
     "  dragoman align --source train.en --target train.fr > train.links\n"},
    {"evaluate", "translate a test set, and print BLEU and chrF", evaluate,
     "  dragoman evaluate -m models/demo --source test.en --reference test.fr\n"},
    {"calibrate", "learn how far a model's translations can be trusted, from some that have references",
     calibrate, "  dragoman calibrate -m models/demo --source valid.en --reference valid.fr\n"},
    {"rerank", "choose among listed translations, by other models too", rerank,
     "  dragoman rerank --nbest lists.txt --source test.en --backward models/fr-en --language-model "
     "models/lm\n"},
    {"inspect", "show a translation's scores, alignment, and the attention of every head", inspect,
     "  dragoman inspect -m models/demo --text \"Where is the station?\"\n"},
    {"explain", "follow a pair of sentences through the model, with the numbers of every step", explain,
     "  dragoman explain -m models/demo --source \"I love you.\" --target \"Je t'aime.\"\n"
     "  dragoman explain -m models/demo --source \"I love you.\" --target \"Je t'aime.\" --step attention\n"},
    {"info", "print a model's configuration, size, vocabulary and history, or check it for damage", info,
     "  dragoman info models/demo\n"
     "  dragoman info models/demo --verify\n"},
    {"metrics", "BLEU, chrF and TER of given translations, as sacreBLEU computes them", metrics,
     "  dragoman metrics --reference test.fr --hypothesis output.fr\n"
     "  dragoman metrics --reference test.fr --hypothesis old.fr --hypothesis new.fr --paired bs\n"},
    {"report", "curves, samples and configurations of training runs, as one HTML page", report,
     "  dragoman report models/demo --out report.html\n"},
    {"draw", "the articles' figures as SVG: positions, causal mask, schedules, smoothing", draw,
     "  dragoman draw schedules --out schedules.svg\n"},
    {"average", "average the weights of several models, or of a run's last checkpoints", average,
     "  dragoman average models/demo --last 5 --out models/averaged\n"},
    {"quantize", "convert a model's weights to int8 or bf16, for faster translation", quantize,
     "  dragoman quantize -m models/demo --out models/demo-int8\n"},
    {"get", "download a published model, and import it", get,
     "  dragoman get --list\n"
     "  dragoman get opus-mt-en-fr\n"},
    {"import", "convert another system's model into a model folder", import,
     "  dragoman import downloads/opus-mt-en-fr --out models/opus-mt-en-fr\n"},
    {"export", "convert a model folder into another system's model", export_model,
     "  dragoman export -m models/demo --format ctranslate2 --out exported\n"},
    {"bench", "measure translation speed here, compared with the machine's limits", bench,
     "  dragoman bench -m models/demo\n"
     "  dragoman bench --model.d_model 512 --precision int8\n"},
    {"memory", "translation memories: build, add to, look into, evaluate, export", memory,
     "  dragoman memory build mine.tmx program.po --from en --to fr --out memories/mine\n"
     "  dragoman memory look --memory memories/mine --text \"Open the file\"\n"
     "  dragoman memory export --memory memories/mine --out all.tmx\n"},
    {"student", "make a small, fast model that translates as its teacher does", student,
     "  dragoman student recipes/students/tiny-en-fr.toml --dry-run\n"
     "  dragoman student recipes/students/tiny-en-fr.toml\n"},
    {"adapt", "fine-tune a model on what you have translated, without forgetting the rest", adapt,
     "  dragoman adapt -m models/demo mine.tmx --out models/mine\n"
     "  dragoman adapt -m models/demo --memory memories/mine --out models/mine\n"},
    {"demo", "train a small English-French translator in minutes, and try it", demo, "  dragoman demo\n"},
    {"completion", "print a script that completes commands and options in bash, zsh or fish", completion,
     "  source <(dragoman completion bash)\n"
     "  dragoman completion fish > ~/.config/fish/completions/dragoman.fish\n"},
};

consteval const Command& command_named(std::string_view name) {
  for (const Command& command : commands) {
    if (name == command.name) return command;
  }
  throw "no such command";  // does not compile
}
consteval const char* summary_of(std::string_view name) { return command_named(name).summary; }

// For a command that takes options alone: declares them and reads them. False if --help was printed. `options` tells
// afterwards which were given.
template <class Values>
bool read_options(const Command& command, Values& values, const Arguments& arguments, Options& options) {
  declare(options, values);
  CommandLine line(command.name, command.summary);
  line.add_options(options);
  return line.read(arguments);
}
template <class Values>
bool read_options(const Command& command, Values& values, const Arguments& arguments) {
  Options options;
  return read_options(command, values, arguments, options);
}

// Everything but the exit code: finds the command and runs it, or prints help or the version.
void run_program(const Arguments& arguments);

}  // namespace dragoman::internal
