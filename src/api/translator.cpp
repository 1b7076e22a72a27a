#include "dragoman/translator.h"

#include <algorithm>
#include <cmath>

#include "api/guard.h"
#include "api/inspecting.h"
#include "api/options.h"
#include "api/scoring.h"
#include "api/service.h"
#include "base/json.h"
#include "base/threads.h"
#include "kernels/devices.h"
#include "model/weights_file.h"
#include "search/batch_size.h"
#include "text/language_tokens.h"

namespace dragoman {
namespace {

void check(const std::vector<std::string>& folders, const TranslatorSettings& settings) {
  if (folders.empty()) throw internal::UsageError("a translator needs a model folder");
  if (settings.threads < 0 || settings.batch < 0 || settings.batch_tokens < 0 || settings.workers < 0)
    throw internal::UsageError("a translator's threads, batch, batch_tokens and workers must be at least 0");
  constexpr int most = 1024, most_sentences = 10'000;
  if (settings.threads > most || settings.workers > most || settings.batch > most_sentences)
    throw internal::UsageError("a translator has at most {} threads and workers, and a batch of {} sentences",
                               most, most_sentences);
  if (settings.translators < 1) throw internal::UsageError("a translator is one of at least 1 that are open");
  if (!std::isfinite(settings.language_model_weight) || settings.language_model_weight < 0)
    throw internal::UsageError("a language model's weight must be at least 0");
}

using DeviceTables = std::vector<const internal::Kernels*>;

std::unique_ptr<internal::SavedModel> read(const std::vector<std::string>& folders,
                                           const TranslatorSettings& settings,
                                           const internal::Kernels& kernels) {
  const int threads = settings.threads > 0 ? settings.threads : internal::available_threads();
  const internal::RequestedPrecision precision = internal::requested(settings.precision);
  auto model =
      std::make_unique<internal::SavedModel>(folders[0], kernels, threads, precision, settings.verify);
  for (size_t i = 1; i < folders.size(); ++i) model->add(folders[i], precision, settings.verify);
  if (!settings.language_model.empty())
    model->fuse(settings.language_model, settings.language_model_weight, precision, settings.verify);
  model->find_shortlist();
  return model;
}

internal::BatchLimits limits_of(const internal::SavedModel& model, const TranslatorSettings& settings,
                                const DeviceTables& devices) {
  const int threads = model.device.context.threads();
  internal::BatchLimits limits = {
      .sentences = settings.batch,
      .batch_tokens = settings.batch_tokens,
      .searches = internal::worker_count(settings.workers, settings.batch, threads),
      .cache_bytes = settings.cache_bytes,
      .further_devices = {devices.begin() + 1, devices.end()}};
  const int64_t batches = int64_t{limits.searches} * settings.translators;
  if (limits.sentences == 0) limits.sentences = internal::automatic_sentences(model, devices, batches);
  if (settings.reserves) limits.reserved = (limits.sentences + 7) / 8;
  limits.sentences += limits.reserved;
  return limits;
}

struct Opened {
  std::unique_ptr<internal::SavedModel> model;
  internal::BatchLimits limits;
};
Opened open(const std::vector<std::string>& folders, const TranslatorSettings& settings) {
  check(folders, settings);
  const DeviceTables devices = internal::kernels_of_devices(settings.device);
  Opened opened = {.model = read(folders, settings, *devices[0]), .limits = {}};
  opened.limits = limits_of(*opened.model, settings, devices);
  return opened;
}

std::string name_of_devices(const internal::Kernels& first, size_t count) {
  const std::string name = internal::device_name(first);
  return count == 1 ? name : std::to_string(count) + " times " + name;
}

ModelInfo info_of(internal::SavedModel& saved, const internal::BatchLimits& limits) {
  const size_t devices = 1 + limits.further_devices.size();
  ModelInfo info = {.folder = saved.folder,
                    .language_model = !internal::has_encoder(saved.model.config),
                    .config = internal::json_text(saved.config, 1),
                    .precision = internal::name_of(internal::Precision::fp32),
                    .instruction_set = name_of_devices(saved.device.kernels, devices),
                    .source_vocabulary = saved.vocabularies.source->size(),
                    .target_vocabulary = saved.vocabularies.target->size(),
                    .max_tokens = saved.max_positions,
                    .source_languages = internal::source_languages(saved.vocabularies),
                    .target_languages = internal::target_languages(saved.vocabularies),
                    .threads = saved.device.context.threads(),
                    .workers = limits.searches * static_cast<int>(devices),
                    .batch = limits.sentences - limits.reserved};
  for (const internal::Parameter& parameter : saved.model.parameters.list()) {
    info.parameters += parameter.size();
    if (parameter.value.is_low_precision())
      info.precision = internal::name_of(parameter.value.storage().low_precision.precision);
  }
  return info;
}

}  // namespace

struct Translator::State {
  State(const std::vector<std::string>& folders, const TranslatorSettings& settings)
      : State(open(folders, settings)) {}
  explicit State(Opened opened)
      : info(info_of(*opened.model, opened.limits)),
        service(internal::Service::start(std::move(opened.model), opened.limits)) {}
  ~State() { service->stop(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const ModelInfo info;
  const std::shared_ptr<internal::Service> service;
};

Translator::Translator(const std::string& folder, const TranslatorSettings& settings)
    : Translator(std::vector{folder}, settings) {}

Translator::Translator(const std::vector<std::string>& folders, const TranslatorSettings& settings)
    : state_(internal::guarded([&] { return std::make_unique<State>(folders, settings); })) {}

Translator::~Translator() = default;
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;

Translation Translator::translate(const std::string& text, const Options& options) {
  return submit({.text = text, .options = options}).get();
}

std::vector<Translation> Translator::translate(std::span<const std::string> texts, const Options& options) {
  std::vector<std::future<Translation>> futures;
  for (const std::string& text : texts) futures.push_back(submit({.text = text, .options = options}));
  std::vector<Translation> all;
  for (std::future<Translation>& future : futures) all.push_back(future.get());
  return all;
}

std::future<Translation> Translator::submit(Request request) {
  return internal::guarded([&] { return state_->service->submit(std::move(request)); });
}

void Translator::submit(Request request, std::function<void(std::future<Translation>)> on_done) {
  internal::guarded([&] { state_->service->submit(std::move(request), std::move(on_done)); });
}

size_t Translator::pending() const { return state_->service->pending(); }

TranslatorStatistics Translator::statistics() const { return state_->service->statistics(); }

uint64_t Translator::new_client() { return internal::Service::new_client(); }

std::vector<Score> Translator::score(std::span<const TextPair> pairs, const ScoreSettings& settings) {
  return internal::guarded([&] { return internal::score(*state_->service, pairs, settings); });
}

std::string Translator::inspect(const std::string& text, const InspectionSettings& settings) {
  return internal::guarded([&] { return internal::inspect(*state_->service, text, settings); });
}

ModelInfo Translator::info() const { return state_->info; }

std::vector<OptionInfo> Translator::options() { return internal::request_options(); }
std::vector<OptionInfo> Translator::generation_options() { return internal::generation_options(); }

}  // namespace dragoman
