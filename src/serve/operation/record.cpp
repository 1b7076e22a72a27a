#include "serve/operation/record.h"

#include <atomic>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/quotes.h"
#include "serve/json_log.h"
#include "serve/operation/metrics.h"
#include "serve/settings.h"

namespace dragoman::internal {
namespace {

constexpr int client_gone = 499;  // as nginx notes it; nobody is sent it

}  // namespace

class RecordedSink : public Responder::Sink {
 public:
  RecordedSink(const RequestRecorder& recorder, RequestRecorder::Note note, Responder inner,
               std::shared_ptr<void> lease)
      : recorder_(recorder), note_(std::move(note)), inner_(std::move(inner)), lease_(std::move(lease)) {}
  ~RecordedSink() override {
    if (note_.status == 0) note_.status = 500;  // which the connection answers then
    finish();
  }

  void send(HttpResponse response) override {
    if (done_) return;
    note_.bytes = response.body.size();
    start(response);
    finish();
    inner_.send(std::move(response));
  }
  void begin(HttpResponse head) override {
    start(head);
    inner_.begin(std::move(head));
  }
  bool write(std::string_view text) override {
    note_.bytes += text.size();
    return inner_.write(text);
  }
  void end() override {
    finish();
    inner_.end();
  }
  size_t unsent() const override { return inner_.unsent(); }

 private:
  void start(HttpResponse& response) {
    note_.status = response.status;
    recorder_.cors_.add_headers(note_.origin, response.headers);
  }
  void finish() {
    if (done_.exchange(true)) return;
    lease_.reset();
    recorder_.finish(note_);
  }

  const RequestRecorder& recorder_;
  RequestRecorder::Note note_;
  Responder inner_;
  std::shared_ptr<void> lease_;
  std::atomic<bool> done_ = false;
};

RequestRecorder::Note RequestRecorder::note_of(const IncomingRequest& request, const std::string& route,
                                               const std::string& client) {
  return {.id = request.id,
          .client = client,
          .method = request.method,
          .path = route.ends_with("*>") ? route : request.path,
          .route = route,
          .origin = std::string(request.header("origin")),
          .received = request.received,
          .disconnected = request.disconnected};
}

Responder RequestRecorder::recorded(const IncomingRequest& request, const std::string& route,
                                    const std::string& client, Responder responder,
                                    std::shared_ptr<void> lease) const {
  return Responder(std::make_shared<RecordedSink>(*this, note_of(request, route, client),
                                                  std::move(responder), std::move(lease)));
}

HttpResponse RequestRecorder::noted(const IncomingRequest& request, const std::string& route,
                                    const std::string& client, HttpResponse response) const {
  Note note = note_of(request, route, client);
  note.status = response.status;
  note.bytes = response.body.size();
  cors_.add_headers(note.origin, response.headers);
  finish(note);
  return response;
}

void RequestRecorder::finish(const Note& note) const {
  const int status = note.disconnected.stop_requested() ? client_gone : note.status;
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - note.received;
  metrics_.answered(note.route, status, time);
  if (settings_.log == RequestLogFormat::off) return;
  const double milliseconds = std::round(1e4 * time.count()) / 10;
  const std::string now = time_now();
  if (settings_.log == RequestLogFormat::text) {
    log_info("{} {} {} {} {} {} ms, {} bytes, {}", now, note.client, note.method, in_quotes(note.path),
             status, milliseconds, note.bytes, note.id);
    return;
  }
  const nlohmann::ordered_json line = {{"time", now},           {"request", note.id}, {"client", note.client},
                                       {"method", note.method}, {"path", note.path},  {"route", note.route},
                                       {"status", status},      {"ms", milliseconds}, {"bytes", note.bytes}};
  print_json_line(line);
}

}  // namespace dragoman::internal
