#include "student/backward.h"

#include <filesystem>

#include "base/line_writer.h"
#include "base/lines.h"
#include "student/stage.h"
#include "student/teaching.h"
#include "train/task.h"

namespace dragoman::internal {
namespace {

// A line without a translation stays empty, and training leaves it out.
void tag_lines(const std::string& from, const std::string& tag, const std::string& to) {
  LineReader lines(from);
  LineWriter tagged(to);
  for (std::string_view line; lines.next(line);)
    tagged.add(line.empty() ? std::string() : tag + " " + std::string(line));
  tagged.finish();
}

}  // namespace

// From the ten most likely subwords: the tail of a distribution is mostly noise.
dragoman::Options backward_search() { return {{"sample", true}, {"top-k", int64_t{10}}}; }

void translate_back(const StudentRecipe& recipe, const BackTranslations& files, Stage& stage,
                    Processes& processes) {
  nlohmann::ordered_json report;
  run_on_first_then_others(processes, [&] {
    if (!processes.first() || std::filesystem::exists(files.target)) return;
    clean_monolingual(recipe.student.monolingual_target, files.target, {.doing = "cleaning"});
  });
  const TrainingConfig& training = recipe.training.training;
  dragoman::Translator backward(recipe.student.backward, {.device = training.device,
                                                          .threads = thread_count(training, processes),
                                                          .precision = dragoman::Precision::int8});
  const TaughtLines lines = teach(backward, backward_search(), 1,
                                  {.source = files.target,
                                   .reference = "",
                                   .out = {files.translated},
                                   .doing = "the backward model translates"},
                                  2000, processes);
  if (!processes.first()) return;
  if (files.source != files.translated)
    tag_lines(files.translated, recipe.student.backward_tag, files.source);
  stage.finish(to_json(lines));
}

}  // namespace dragoman::internal
