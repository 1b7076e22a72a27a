// Dispatcher: routes a request to its handler, after all checks that may refuse it. Errors that handlers throw become
// their API's error bodies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "http/server.h"
#include "serve/context.h"
#include "serve/limits/cors.h"
#include "serve/operation/record.h"
#include "serve/translations/worker_pool.h"

namespace dragoman::internal {

class Dispatcher {
 public:
  Dispatcher(std::vector<Route> routes, ServeContext& context, const Cors& cors,
             const RequestRecorder& recorder);

  // What HttpHandler asks for.
  std::optional<HttpResponse> admit(const IncomingRequest& head, size_t& body_bytes);
  HttpResponse refused(const IncomingRequest& head, int status, const std::string& sentence) const;
  void handle(IncomingRequest request, Responder responder);

 private:
  struct RouteMatch {
    const Route* route = nullptr;  // null: no route has the path, or none the method
    std::vector<std::string> names = {};
    std::string path = "none";  // as routes write it, whatever the method
    std::string methods = {};   // of the path
  };
  RouteMatch find(const IncomingRequest& request) const;
  void answer_to(const RouteMatch& found, IncomingRequest request, Responder responder) const;
  const Route& checked(const IncomingRequest& request, const RouteMatch& found) const;
  void admit_to(const Route& route, const IncomingRequest& head) const;
  std::string address_of(const IncomingRequest& request) const;
  HttpResponse noted(const IncomingRequest& head, const RouteMatch& found, HttpResponse response) const;
  // The API key's name, else the address as limits count it (http/address.h). Throws if a key is needed and the request
  // has no valid one.
  std::string client_of(const Route& route, const IncomingRequest& request, const nlohmann::json* body) const;

  const std::vector<Route> routes_;
  ServeContext& context_;
  const Cors& cors_;
  const RequestRecorder& recorder_;
  WorkerPool pool_{8};  // for what takes longer than a thread that reads requests may be held up
};

}  // namespace dragoman::internal
