#include "serve/server.h"

#include <algorithm>
#include <optional>

#include "base/build.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "http/server.h"
#include "serve/adapting/adapter.h"
#include "serve/answers.h"
#include "serve/api_keys.h"
#include "serve/context.h"
#include "serve/deepl/routes.h"
#include "serve/desk/routes.h"
#include "serve/dispatcher.h"
#include "serve/documents/download_store.h"
#include "serve/libretranslate/routes.h"
#include "serve/limits/clients.h"
#include "serve/memories/store.h"
#include "serve/models/loading.h"
#include "serve/operation/metrics.h"
#include "serve/operation/openapi.h"
#include "serve/operation/routes.h"
#include "serve/translations/worker_pool.h"
#include "serve/web/pages.h"
#include "serve/web/training_view.h"

namespace dragoman::internal {
namespace {

HttpSettings http_settings(const ServeSettings& s) {
  const size_t body_bytes = static_cast<size_t>(std::max(s.limits.body, s.limits.upload));
  return {.host = s.host,
          .port = static_cast<int>(s.port),
          .body_bytes = body_bytes,
          .connections = static_cast<size_t>(s.connections),
          .connections_per_address = static_cast<size_t>(s.connections_per_address),
          .buffered_bytes = std::max(body_bytes, static_cast<size_t>(s.limits.buffered)),
          .header_time = std::chrono::seconds(s.header_time),
          .idle_time = std::chrono::seconds(s.idle_time),
          .certificate = s.certificate,
          .key = s.key};
}

TranslationsSettings translations_settings(const ServeSettings& s) {
  return {.translator = {.device = s.device,
                         .threads = static_cast<int>(s.threads),
                         .precision = s.precision,
                         .batch = s.batch,
                         .workers = static_cast<int>(s.workers),
                         .cache_bytes = static_cast<size_t>(s.cache) << 20,
                         .reserves = true,
                         .translators = static_cast<int>(std::max<size_t>(s.models.size(), 1))},
          .detector = s.detector,
          .texts = static_cast<size_t>(s.limits.queue),
          .characters = static_cast<size_t>(s.limits.queue_characters),
          .adapted = s.adapt_every > 0 ? std::optional(s.adapted) : std::nullopt,
          .updates = s.updates,
          .loaded_updates = static_cast<size_t>(s.loaded_updates)};
}

void append(std::vector<Route>& routes, std::vector<Route> more) {
  std::ranges::move(more, std::back_inserter(routes));
}

Route openapi_route(std::shared_ptr<const std::string> document) {
  return {.method = "GET",
          .path = "/openapi.json",
          .tag = "Operation",
          .summary = "This description of the server",
          .answer = {{"type", "object"}},
          .open = true,
          .handle = [document](ServeCall call) { call.responder.send({.body = *document}); }};
}

// One of other languages than all models would never be used.
void check_memories(const MemoryStore& memories, const std::vector<ServedPair>& pairs) {
  for (const auto& one : memories.all()) {
    const auto is_served = [&](const ServedPair& pair) { return one->has_pair(pair.from, pair.to); };
    if (std::ranges::none_of(pairs, is_served))
      throw UsageError("--memory {}: it is from {} to {}, and no model translates between these languages",
                       one->memory->folder(), one->memory->from(), one->memory->to());
  }
}

}  // namespace

// In the order in which the later ones use the earlier.
struct TranslationServer::Parts {
  explicit Parts(const ServeSettings& given)
      : settings(given),
        clients(settings.limits.requests_per_client, settings.limits.characters_per_minute),
        keys(settings.api_keys),
        cors(settings.cors),
        recorder(settings, metrics, cors),
        files({.bytes = static_cast<size_t>(settings.limits.keep_megabytes) << 20,
               .time = std::chrono::minutes(settings.limits.keep_minutes)}),
        memories(settings.memories),
        translations(metrics),
        workers(4),
        waiting(16),
        context{translations, settings, metrics, clients, keys, workers, waiting, files, memories},
        training(settings.training),
        adapter(settings),
        dispatcher(all_routes(), context, cors, recorder),
        http(
            new HttpServer(http_settings(settings),
                           {.admit = [this](const IncomingRequest& head,
                                            size_t& bytes) { return dispatcher.admit(head, bytes); },
                            .refused =
                                [this](const IncomingRequest& head, int status, const std::string& sentence) {
                                  return dispatcher.refused(head, status, sentence);
                                },
                            .handle =
                                [this](IncomingRequest request, Responder responder) {
                                  dispatcher.handle(std::move(request), std::move(responder));
                                }})) {}

  std::vector<Route> all_routes() {
    std::vector<Route> routes = v1_routes(context);
    append(routes, web_routes({.training = !settings.training.empty()}));
    append(routes, training.routes());
    append(routes, libretranslate_routes(context));
    append(routes, deepl_routes(context));
    append(routes, desk_routes(context));
    append(routes, operation_routes(context, [this](MetricsPage& page) { print_counts(page); }));
    const auto document = std::make_shared<std::string>();
    routes.push_back(openapi_route(document));
    *document = json_text(openapi_document(routes, keys.needed()));
    return routes;
  }

  void print_counts(MetricsPage& page) const {
    const HttpCounts counts = counted.counts();
    const auto one = [&](const char* name, const char* type, const char* help, auto value) {
      page.family(name, type, help);
      page.value(static_cast<double>(value));
    };
    one("dragoman_connections", "gauge", "Open connections.", counts.connections);
    one("dragoman_connections_total", "counter", "Connections accepted.", counts.accepted);
    one("dragoman_connections_refused_total", "counter", "Connections refused because of a limit.",
        counts.refused);
    page.family("dragoman_bad_requests_total", "counter",
                "Requests that could not be read, by the status that they were refused with.");
    for (const auto& [status, count] : counts.bad_requests)
      page.value(static_cast<double>(count), {{"status", std::to_string(status)}});
    one("dragoman_buffered_bytes", "gauge",
        "Bytes of large requests that are read or worked on, as --max-buffered limits them.",
        counts.buffered_bytes);
    one("dragoman_clients_gone_total", "counter", "Requests whose client disconnected before the answer.",
        counts.gone);
    if (translations.ready()) print_models(page, translations.models());
    adapter.print(page);
    page.family("dragoman_build_info", "gauge", "The version, as a label.");
    page.value(1, {{"version", version()}});
  }

  const ServeSettings settings;
  ServeMetrics metrics;
  ClientLimits clients;
  ApiKeys keys;
  Cors cors;
  RequestRecorder recorder;
  DownloadStore files;
  MemoryStore memories;
  LoadingTranslations translations;
  WorkerPool workers, waiting;
  ServeContext context;
  TrainingView training;
  Adapter adapter;
  Dispatcher dispatcher;
  std::unique_ptr<HttpServer> http;
  const HttpServer& counted = *http;  // also while its destructor waits for requests that are being answered
};

TranslationServer::TranslationServer(const ServeSettings& settings)
    : parts_(std::make_unique<Parts>(settings)) {}

// When what handlers use goes, nothing calls them any more and none of their work is left.
TranslationServer::~TranslationServer() {
  parts_->http.reset();
  parts_->translations.close();
}

void TranslationServer::start() { parts_->http->start(); }

void TranslationServer::load() {
  const ServeSettings& settings = parts_->settings;
  auto opened = open_translations(settings.models, translations_settings(settings));
  check_memories(parts_->memories, opened->pairs());
  load(std::move(opened));
  if (settings.adapt_every > 0)
    parts_->adapter.start(adapt_jobs(parts_->translations, parts_->memories, settings));
}

void TranslationServer::load(std::unique_ptr<Translations> translations) {
  parts_->translations.set(std::move(translations));
}

void TranslationServer::reload() {
  try {
    parts_->keys.reload();
  } catch (const dragoman::Error& error) {
    log_warning("the API keys were not reloaded: {}", error.what());
  }
  try {
    parts_->http->reload_certificate();
  } catch (const dragoman::Error& error) {
    log_warning("the certificate was not reloaded: {}", error.what());
  }
  parts_->translations.reload();
}

bool TranslationServer::stop() {
  using Clock = std::chrono::steady_clock;
  parts_->context.draining = true;
  parts_->adapter.stop();
  const auto until = Clock::now() + std::chrono::seconds(parts_->settings.drain_time);
  const DownloadStore::Left left = parts_->files.wait(until);
  if (left.unfinished + left.unfetched > 0)
    log_warning("dropped: {} documents whose translation was not done, and {} that were not fetched",
                left.unfinished, left.unfetched);
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  return parts_->http->stop(std::max(rest, std::chrono::milliseconds(0))) && left.unfinished == 0;
}

int TranslationServer::port() const { return parts_->http->port(); }

std::vector<ServedPair> TranslationServer::pairs() const { return parts_->translations.pairs(); }

}  // namespace dragoman::internal
