#include "student/backward.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/line_writer.h"
#include "base/lines.h"
#include "student/model_languages.h"
#include "student/stage.h"
#include "student/teaching.h"
#include "train/task.h"

namespace dragoman::internal {

// From the ten most likely subwords: the tail of a distribution is mostly noise.
dragoman::Options backward_search() { return {{"sample", true}, {"top-k", int64_t{10}}}; }

void translate_back(const StudentRecipe& recipe, const BackTranslations& files, Stage& stage,
                    Processes& processes) {
  run_on_first(processes, [&] {
    if (!std::filesystem::exists(files.target))
      clean_monolingual(recipe.student.monolingual_target, files.target, {.doing = "cleaning"});
  });
  const TrainingConfig& training = recipe.training.training;
  const DataConfig& data = recipe.training.data;
  dragoman::Translator backward(recipe.student.backward, {.device = training.device,
                                                          .threads = thread_count(training, processes),
                                                          .precision = dragoman::Precision::int8});
  dragoman::Options search = language_options(backward, data.to, data.from);
  std::ranges::copy(backward_search(), std::back_inserter(search));
  const TaughtLines lines = teach(backward, std::move(search), 1,
                                  {.source = files.target,
                                   .reference = "",
                                   .out = {files.translated},
                                   .doing = "the backward model translates"},
                                  2000, processes);
  if (processes.first()) stage.finish(to_json(lines));
}

// A line without a translation stays empty, and training leaves it out.
void tag_sources(const std::string& tag, const BackTranslations& files, Stage& stage) {
  LineReader lines(files.translated);
  LineWriter tagged(files.source);
  for (std::string_view line; lines.next(line);)
    tagged.add(line.empty() ? std::string() : tag + " " + std::string(line));
  tagged.finish();
  stage.finish(nlohmann::ordered_json::object());
}

}  // namespace dragoman::internal
