#include "serve/dispatcher.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/log.h"
#include "base/quotes.h"
#include "http/address.h"
#include "serve/answers.h"
#include "serve/api_keys.h"
#include "serve/host_names.h"
#include "serve/limits/clients.h"
#include "serve/limits/deadline.h"
#include "serve/limits/proxies.h"
#include "serve/operation/metrics.h"
#include "serve/requests/body.h"
#include "serve/requests/schema.h"
#include "serve/settings.h"
#include "serve/translations.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t long_body = 16 << 10;  // bytes, from which reading it takes a while

// Whose error body a request gets, on an unknown path, too.
std::string tag_of(const Route* route, const IncomingRequest& request) {
  if (route) return route->tag;
  if (request.path.starts_with("/v2/") || request.path.starts_with("/v3/")) return "DeepL";
  return request.path.starts_with("/v1/") ? "Dragoman" : "LibreTranslate";
}

std::string_view bearer(std::string_view authorization) {
  for (const std::string_view scheme : {"Bearer ", "DeepL-Auth-Key "}) {
    if (same_ignoring_case(authorization.substr(0, scheme.size()), scheme))
      return stripped(authorization.substr(scheme.size()));
  }
  return {};
}

std::string key_of(const Route& route, const IncomingRequest& request, const nlohmann::json* body) {
  if (const std::string_view key = bearer(request.header("authorization")); !key.empty())
    return std::string(key);
  if (!route.key_in_body) return {};
  for (const char* name : {"api_key", "auth_key", "key"}) {
    if (std::string_view(name) == "key" && route.tag != "MyMemory") continue;
    for (const auto& [key, value] : request.query) {
      if (key == name) return value;
    }
    if (body && body->is_object() && body->contains(name) && (*body)[name].is_string()) return (*body)[name];
  }
  return {};
}

ServeError key_refusal(const Route& route, bool missing) {
  const char* message = missing ? "this server needs an API key: ask its operator for one"
                                : "the API key is not valid: check it, or ask the server's operator";
  if (route.tag == "LibreTranslate" || route.tag == "DeepL" || route.tag == "MyMemory")
    return ServeError(403, message);
  return ServeError(401, message, {{"www-authenticate", "Bearer"}});
}

void check_host(const IncomingRequest& head, const ServeSettings& settings) {
  const std::string_view host = head.header("host");
  if (is_loopback(settings.host) && !is_known_host(host, settings.host_names))
    throw ServeError(421, fmt::format("this server is not {}: use localhost, or start it with --host-name",
                                      in_quotes(host)));
}

constexpr const char* too_many_at_once = "too many concurrent requests: wait for some to finish";

ServeError too_many(const std::string& message, int64_t seconds) {
  return ServeError(429, message, {{"retry-after", std::to_string(seconds)}});
}

}  // namespace

Dispatcher::Dispatcher(std::vector<Route> routes, ServeContext& context, const Cors& cors,
                       const RequestRecorder& recorder)
    : routes_(std::move(routes)), context_(context), cors_(cors), recorder_(recorder) {}

Dispatcher::RouteMatch Dispatcher::find(const IncomingRequest& request) const {
  RouteMatch found;
  std::vector<std::string> names;
  for (const Route& route : routes_) {
    if (!path_matches(route.path, request.path, names)) continue;
    if (found.methods.empty()) found.path = route.path;
    found.methods +=
        (found.methods.empty() ? "" : ", ") + route.method + (route.method == "GET" ? ", HEAD" : "");
    if (route.method != request.method || found.route) continue;
    found.route = &route;
    found.names = names;
  }
  return found;
}

std::string Dispatcher::address_of(const IncomingRequest& request) const {
  return client_address(request, context_.settings.proxies);
}

const Route& Dispatcher::checked(const IncomingRequest& request, const RouteMatch& found) const {
  if (found.route) return *found.route;
  if (found.methods.empty())
    throw ServeError(404, fmt::format("no such path: {}; /openapi.json lists all", in_quotes(request.path)));
  throw ServeError(405,
                   fmt::format("{} does not support {}: use {}", in_quotes(request.path),
                               in_quotes(request.method), found.methods),
                   {{"allow", found.methods + ", OPTIONS"}});
}

std::string Dispatcher::client_of(const Route& route, const IncomingRequest& request,
                                  const nlohmann::json* body) const {
  if (route.open || !context_.keys.needed()) return network_of(address_of(request));
  const std::string key = key_of(route, request, body);
  if (key.empty()) {
    if (!body && route.key_in_body && route.body_bytes > 0) return {};  // not known yet
    throw key_refusal(route, true);
  }
  const auto owner = context_.keys.owner(key);
  if (!owner) throw key_refusal(route, false);
  return *owner;
}

void Dispatcher::admit_to(const Route& route, const IncomingRequest& head) const {
  if (route.open) return;
  if (context_.draining && !route.while_stopping)
    throw ServeError(503, "the server is stopping: try again", {{"retry-after", "1"}});
  if (!context_.translations.ready())
    throw ServeError(503, "the server is loading its models: try again", {{"retry-after", "2"}});
  const std::string client = client_of(route, head, nullptr);
  if (route.needs_room) {
    if (const auto overload = context_.translations.overload()) throw *overload;
  }
  if (client.empty()) return;
  if (context_.clients.full(client)) throw too_many(too_many_at_once, 1);
  if (const int64_t seconds = context_.clients.wait(client, Clock::now()); seconds > 0)
    throw too_many("too many characters in a minute: wait, or send fewer", seconds);
}

std::optional<HttpResponse> Dispatcher::admit(const IncomingRequest& head, size_t& body_bytes) {
  const RouteMatch found = find(head);
  if (head.method == "OPTIONS" && !found.methods.empty()) return std::nullopt;
  try {
    check_host(head, context_.settings);
    const Route& route = checked(head, found);
    admit_to(route, head);
    check_media_type(head, route);
    body_bytes = route.body_bytes;
    return std::nullopt;
  } catch (...) {
    return noted(head, found, error_answer(tag_of(found.route, head), std::current_exception(), head.id));
  }
}

HttpResponse Dispatcher::refused(const IncomingRequest& head, int status, const std::string& sentence) const {
  const RouteMatch found = find(head);
  const HttpHeaders headers = status == 503 ? HttpHeaders{{"retry-after", "1"}} : HttpHeaders{};
  return noted(head, found, error_answer(tag_of(found.route, head), status, sentence, headers));
}

HttpResponse Dispatcher::noted(const IncomingRequest& head, const RouteMatch& found,
                               HttpResponse response) const {
  return recorder_.noted(head, found.path, address_of(head), std::move(response));
}

void Dispatcher::handle(IncomingRequest request, Responder responder) {
  RouteMatch found = find(request);
  const bool at_once = request.body.size() < long_body && !(found.route && found.route->uses_files);
  if (at_once) return answer_to(found, std::move(request), std::move(responder));
  // Whose key it is, is not known before the body is read: clients take turns by their networks.
  const uint64_t client = std::hash<std::string>()(network_of(address_of(request))) | 1;
  pool_.run(
      [this, found = std::move(found), request = std::move(request),
       responder = std::move(responder)]() mutable {
        try {
          answer_to(found, std::move(request), std::move(responder));
        } catch (const std::exception& error) {
          log_warning("a request was not answered: {}", error.what());
        }
      },
      client);
}

void Dispatcher::answer_to(const RouteMatch& found, IncomingRequest request, Responder responder) const {
  if (!found.route) {
    const Responder recorded =
        recorder_.recorded(request, found.path, address_of(request), responder, nullptr);
    return recorded.send(cors_.preflight(request, found.methods + ", OPTIONS"));
  }
  const Route& route = *found.route;
  ServeCall call = {.request = std::move(request),
                    .responder = responder,
                    .route = &route,
                    .name = found.names.empty() ? "" : found.names.front(),
                    .names = found.names};
  std::exception_ptr refusal;
  std::shared_ptr<void> lease;
  try {
    call.body = body_properties(call.request, route);
    call.client = client_of(route, call.request, &call.body);
    call.deadline = deadline_of(call.request, context_.settings.limits.timeout);
    if (!route.open && !(lease = context_.clients.begin(call.client))) throw too_many(too_many_at_once, 1);
    if (route.changes_data && cors_.is_foreign(call.request))
      throw ServeError(403, "pages of other sites may change nothing here: allow this one with --cors");
    if (!route.own_checks && !route.body.is_null()) {
      if (const std::string wrong = mismatch(route.body, call.body); !wrong.empty())
        throw ServeError(400, wrong);
    }
  } catch (...) {
    refusal = std::current_exception();
  }
  const bool known_by_key = !route.open && context_.keys.needed() && !call.client.empty();
  const std::string client = known_by_key ? call.client : address_of(call.request);
  const Responder recorded =
      recorder_.recorded(call.request, found.path, client, std::move(responder), std::move(lease));
  const std::string id = call.request.id;
  if (refusal) return recorded.send(error_answer(route.tag, refusal, id));
  call.responder = recorded;
  try {
    route.handle(std::move(call));
  } catch (...) {
    recorded.send(error_answer(route.tag, std::current_exception(), id));
  }
}

}  // namespace dragoman::internal
