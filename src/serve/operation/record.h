// Records each response in the log and the metrics. Translated text is never recorded.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "serve/context.h"
#include "serve/limits/cors.h"

namespace dragoman::internal {

class RequestRecorder {
 public:
  RequestRecorder(const ServeSettings& settings, ServeMetrics& metrics, const Cors& cors)
      : settings_(settings), metrics_(metrics), cors_(cors) {}

  // A responder that records the response, and keeps `lease` alive until then. `route`: the route's path, as a
  // metrics label.
  Responder recorded(const IncomingRequest& request, const std::string& route, const std::string& client,
                     Responder responder, std::shared_ptr<void> lease) const;
  // For an answer that is given at once.
  HttpResponse noted(const IncomingRequest& request, const std::string& route, const std::string& client,
                     HttpResponse response) const;

 private:
  friend class RecordedSink;
  struct Note {
    std::string id, client, method, path, route, origin;
    std::chrono::steady_clock::time_point received;
    std::stop_token disconnected;
    int status = 0;
    size_t bytes = 0;
  };
  static Note note_of(const IncomingRequest& request, const std::string& route, const std::string& client);
  void finish(const Note& note) const;

  const ServeSettings& settings_;
  ServeMetrics& metrics_;
  const Cors& cors_;
};

}  // namespace dragoman::internal
