#include "dragoman/training.h"

#include <filesystem>
#include <optional>

#include "api/guard.h"
#include "api/options.h"
#include "base/signals.h"
#include "train/recipe.h"
#include "train/run.h"
#include "train/run_checks.h"

namespace dragoman {
namespace {

internal::Recipe recipe_of(const TrainingRequest& request, const internal::RunOptions& run) {
  internal::Recipe recipe;
  internal::Options declared;
  declare(declared, recipe);
  if (request.recipe.empty()) {
    declared.read_recipe(request.recipe_text, "the recipe");
  } else {
    declared.read_recipe_file(request.recipe);
  }
  internal::set_options(declared, request.options);
  recipe.given = given_keys(declared);
  take_model(declared, run);
  declared.check([&] { validate(recipe); });
  return recipe;
}

std::string folder_of(const TrainingRequest& request) {
  if (!request.out.empty()) return request.out;
  if (request.recipe.empty())
    throw internal::UsageError("a recipe given as text needs a model folder: set out");
  return "models/" + std::filesystem::path(request.recipe).stem().string();
}

static_assert(int(Resume::automatic) == int(internal::Resume::automatic) &&
              int(Resume::never) == int(internal::Resume::never) &&
              int(Resume::require) == int(internal::Resume::require));

TrainingStep to_public(const internal::UpdateReport& report) {
  return {.step = report.step,
          .epoch = report.epoch,
          .loss = report.loss,
          .learning_rate = report.learning_rate,
          .gradient_norm = report.gradient_norm,
          .tokens_per_second = report.tokens_per_second,
          .seconds = report.seconds};
}

ValidationResult to_public(const internal::ValidationReport& report) {
  ValidationResult result = {.step = report.step,
                             .epoch = report.epoch,
                             .loss = report.loss.value_or(report.training_loss.value_or(0)),
                             .bleu = report.bleu,
                             .chrf = report.chrf,
                             .exact_match = report.exact_match,
                             .best = report.is_best,
                             .samples = {}};
  for (const internal::ValidationSample& sample : report.samples)
    result.samples.push_back({sample.source, sample.reference, sample.translation});
  return result;
}

internal::TrainingObserver observer_of(const TrainingRequest& request) {
  internal::TrainingObserver observer;
  if (request.on_step) {
    observer.on_update = [&](const internal::UpdateReport& report) {
      internal::call_back([&] { request.on_step(to_public(report)); });
    };
  }
  if (request.on_validation) {
    observer.on_validation = [&](const internal::ValidationReport& report) {
      internal::call_back([&] { request.on_validation(to_public(report)); });
    };
  }
  if (request.stop.stop_possible()) observer.stop_requested = [&] { return request.stop.stop_requested(); };
  return observer;
}

}  // namespace

TrainingResult train(const TrainingRequest& request) {
  return internal::guarded([&]() -> TrainingResult {
    TrainingResult result = {.folder = folder_of(request)};
    const internal::RunOptions options = {.folder = result.folder,
                                          .resume = static_cast<internal::Resume>(request.resume),
                                          .init_from = request.init_from};
    const internal::Recipe recipe = recipe_of(request, options);
    std::optional<internal::Run> run;
    try {
      run.emplace(recipe, options, internal::single_process(), observer_of(request));
      run->train();
    } catch (const internal::Stopped& stopped) {
      if (stopped.signal != 0) throw;
      result.stopped = true;
    }
    if (run) result.steps = run->steps();
    return result;
  });
}

}  // namespace dragoman
