// Requests a second of the HTTP server alone, with a handler that answers at once: what it takes before a translation
// begins. wrk sends them, from this machine, and takes a share of its processors.
//
//   bench_http [--serve]     --serve: only serve, until it is interrupted
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "http/server.h"

using namespace dragoman::internal;

int main(int count, char** arguments) try {
  const bool only_serve = count == 2 && std::string_view(arguments[1]) == "--serve";
  if (count > 1 && !only_serve) {
    fmt::print(stderr, "usage: bench_http [--serve]\n");
    return 2;
  }
  HttpSettings settings;
  settings.port = 0;
  settings.connections_per_address = settings.connections;
  HttpServer server(settings, {.handle = [](const IncomingRequest&, const Responder& responder) {
                      responder.send({.type = "text/plain", .body = "answer"});
                    }});
  server.start();
  const std::string url = fmt::format("http://127.0.0.1:{}/", server.port());
  if (only_serve) {
    fmt::print("{}\n", url);
    std::fflush(stdout);
    pause();
    return 0;
  }
  for (const int connections : {1, 64, 512}) {
    fmt::print("{} connections\n", connections);
    std::fflush(stdout);
    const std::string command =
        fmt::format("wrk --latency -t {} -c {} -d 5s {} | grep -E 'Requests/sec|99%|50%|Socket|Non-2xx'",
                    connections < 2 ? 1 : 2, connections, url);
    if (std::system(command.c_str()) != 0) {
      fmt::print(stderr, "bench_http: wrk is needed (Debian: wrk)\n");
      return 1;
    }
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_http: {}\n", error.what());
  return 1;
}
