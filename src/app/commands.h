// The program's commands: a function each, in a file each. They throw; main.cpp turns that into an exit code.
#pragma once

#include <string>
#include <vector>

namespace dragoman {

using Arguments = std::vector<std::string>;  // what follows the command's name

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
void bench(const Arguments& arguments);
void demo(const Arguments& arguments);

struct Command {
  const char* name;
  const char* summary;
  void (*run)(const Arguments& arguments);
};

// In the order of `dragoman --help`.
inline constexpr Command commands[] = {
    {"prepare", "learn the vocabularies, encode the corpus, and show what came of it", prepare},
    {"train", "learn a model as a recipe says", train},
    {"translate", "translate text, a line for each line", translate},
    {"score", "how probable given translations are to a model", score},
    {"evaluate", "translate a test set, and print BLEU and chrF", evaluate},
    {"inspect", "look into a translation: scores, alignment, the attention of every head", inspect},
    {"info", "what a model's folder holds", info},
    {"metrics", "BLEU and chrF of translations, as sacreBLEU computes them", metrics},
    {"report", "curves, samples and configurations of training runs, as one HTML page", report},
    {"draw", "the articles' figures, as SVG: positions, the causal mask, schedules, smoothing", draw},
    {"average", "average the weights of several models, or of a run's last checkpoints", average},
    {"quantize", "round a model's weights to fewer bits, for translating faster and in less memory",
     quantize},
    {"bench", "how fast a model translates here, beside what the machine could do at most", bench},
    {"demo", "train a small English-French translator for some minutes, and try it", demo},
};

// The whole program but for its exit code: finds the command and runs it, or prints help or version.
void run_program(const Arguments& arguments);

}  // namespace dragoman
