#include "serve/operation/routes.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "serve/answers.h"
#include "serve/translations.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

// Why it does not serve; null where it does.
const char* not_serving(const ServeContext& context) {
  if (context.draining) return "stopping";
  if (!context.translations.ready()) return "loading";
  return nullptr;
}

// Why requests are better sent to another server.
const char* not_ready(const ServeContext& context) {
  if (const char* fault = not_serving(context)) return fault;
  return context.translations.overload() ? "full" : nullptr;
}

HttpResponse status_answer(const char* fault) {
  HttpResponse response = json_answer({{"status", fault ? fault : "ok"}}, fault ? 503 : 200);
  response.headers = {{"cache-control", "no-store"}};
  if (fault) response.headers.emplace_back("retry-after", "2");
  return response;
}

Route open_route(const char* path, const char* tag, const char* summary,
                 std::function<HttpResponse()> answer) {
  return {.method = "GET",
          .path = path,
          .tag = tag,
          .summary = summary,
          .answer = {{"type", "object"}, {"properties", {{"status", {{"type", "string"}}}}}},
          .errors = {503},
          .open = true,
          .handle = [answer = std::move(answer)](ServeCall call) { call.responder.send(answer()); }};
}

}  // namespace

std::vector<Route> operation_routes(ServeContext& context, std::function<void(MetricsPage&)> print_more) {
  const auto ready = [&context] { return status_answer(not_ready(context)); };
  const auto healthy = [&context] { return status_answer(not_serving(context)); };
  Route metrics =
      open_route("/metrics", "Operation", "Counters in Prometheus's text format",
                 [&context, print_more = std::move(print_more)]() -> HttpResponse {
                   MetricsPage page;
                   context.metrics.print(page);
                   print_more(page);
                   return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = page.take()};
                 });
  metrics.answer = nullptr;
  metrics.answer_type = "text/plain";
  metrics.errors = {};
  Route live = open_route("/livez", "Operation", "Whether the process is alive",
                          [] { return status_answer(nullptr); });
  live.errors = {};
  return {live,
          open_route("/readyz", "Operation",
                     "Whether requests are accepted: not while loading, stopping or full", ready),
          open_route("/health", "LibreTranslate", "Whether the server serves: not while loading or stopping",
                     healthy),
          metrics};
}

}  // namespace dragoman::internal
