#include "student/taught_text.h"

#include "student/model_languages.h"
#include "student/teaching.h"
#include "train/task.h"

namespace dragoman::internal {
namespace {

nlohmann::ordered_json teach_text(const StudentRecipe& recipe, const TaughtText& text, Processes& processes) {
  const StudentConfig& c = recipe.student;
  const TrainingConfig& training = recipe.training.training;
  const DataConfig& data = recipe.training.data;
  dragoman::Translator teacher(c.teacher, {.device = training.device,
                                           .threads = thread_count(training, processes),
                                           .precision = dragoman::Precision::int8});
  dragoman::Options search = language_options(teacher, data.from, data.to);
  search.emplace_back("beam", c.beam);
  return to_json(teach(teacher, std::move(search), c.candidates, text, 2000, processes));
}

}  // namespace

void teach_pairs(const StudentRecipe& recipe, const CleanCorpus& corpus,
                 const std::vector<std::string>& taught, Stage& stage, Processes& processes) {
  nlohmann::ordered_json report =
      teach_text(recipe, {.source = corpus.source, .reference = corpus.target, .out = taught}, processes);
  if (processes.first()) stage.finish(std::move(report));
}

// Text that is cleaned again after a stop is the same.
void teach_monolingual(const StudentRecipe& recipe, const MonolingualText& files, Stage& stage,
                       Processes& processes) {
  nlohmann::ordered_json text;
  run_on_first(processes, [&] {
    text = clean_monolingual(recipe.student.monolingual, files.source, {.doing = "cleaning"});
  });
  nlohmann::ordered_json taught =
      teach_text(recipe, {.source = files.source, .reference = "", .out = files.taught}, processes);
  if (processes.first()) stage.finish({{"text", std::move(text)}, {"taught", std::move(taught)}});
}

}  // namespace dragoman::internal
