#include "http/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/threads.h"
#include "http/beast/listener.h"
#include "http/beast/loop.h"
#include "http/beast/tls.h"
#include "http/beast/transport.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

// How long clients whose connections are idle may still send what they are about to send, and learn by the answer that
// the connection ends.
constexpr std::chrono::milliseconds grace(300), drain_step(20);

// A connection takes a descriptor. Systems grant 1024 at first, and more to those that ask.
void allow_descriptors(size_t connections) {
  const rlim_t wanted = connections + 256;  // and some for models, files and listening
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted)
    log_warning("cannot keep {} connections open: the system allows this program {} open files", connections,
                limit.rlim_max);
}

}  // namespace

class HttpServer::Implementation {
 public:
  Implementation(HttpSettings settings, HttpHandler handler)
      : state_(std::make_shared<ServerState>(std::move(settings), std::move(handler))) {
    for (int i = 0; i < std::max(1, state_->settings.threads); ++i)
      loops_.push_back(std::make_shared<Loop>(state_));
  }

  ~Implementation() {
    if (threads_.empty()) return;
    close_listener();
    for (const auto& loop : loops_) loop->finish();
    for (std::thread& thread : threads_) thread.join();
  }

  void start() {
    const HttpSettings& settings = state_->settings;
    allow_descriptors(settings.connections);
    const bool encrypted = !settings.certificate.empty();
    if (encrypted) reload_certificate();
    listener_ = std::make_unique<Listener>(loops_, settings.host, settings.port, make_transport(encrypted),
                                           encrypted);
    port_ = listener_->port();
    for (const auto& loop : loops_) threads_.push_back(start_thread([loop] { loop->run(); }));
    // Once all threads are there: where the system refuses one, nothing has been accepted.
    asio::post(loops_.front()->context(), [this] { listener_->start(); });
  }

  int port() const { return port_; }

  void reload_certificate() {
    const HttpSettings& settings = state_->settings;
    if (settings.certificate.empty()) return;
    TlsContext fresh =
        tls_context(settings.certificate, settings.key.empty() ? settings.certificate : settings.key);
    const std::lock_guard lock(tls_mutex_);
    tls_ = std::move(fresh);
  }

  HttpCounts counts() const {
    return {.connections = state_->connections.size(),
            .accepted = state_->accepted,
            .refused = state_->refused,
            .requests = state_->requests,
            .gone = state_->gone,
            .buffered_bytes = state_->buffered_bytes,
            .bad_requests = state_->bad_requests()};
  }

  bool stop(std::chrono::milliseconds within) {
    if (threads_.empty()) return true;
    const auto begin = Clock::now(), end = begin + within;
    state_->draining = true;
    close_listener();
    if (state_->connections.wait_until_empty(std::min(end, begin + grace))) return true;
    do {
      for (const auto& loop : loops_) loop->drain_idle();
    } while (!state_->connections.wait_until_empty(std::min(end, Clock::now() + drain_step)) &&
             Clock::now() < end);
    return state_->connections.size() == 0;
  }

 private:
  Listener::MakeTransport make_transport(bool encrypted) {
    if (!encrypted) return plain_transport;
    return [this](tcp::socket socket) {
      const std::lock_guard lock(tls_mutex_);
      return tls_transport(std::move(socket), tls_);
    };
  }

  void close_listener() {
    std::promise<void> closed;
    asio::post(loops_.front()->context(), [&] {
      listener_->close();
      closed.set_value();
    });
    closed.get_future().wait();
  }

  const std::shared_ptr<ServerState> state_;
  std::vector<std::shared_ptr<Loop>> loops_;
  std::mutex tls_mutex_;
  TlsContext tls_;  // of connections to come
  std::unique_ptr<Listener> listener_;
  std::vector<std::thread> threads_;
  int port_ = 0;
};

HttpServer::HttpServer(HttpSettings settings, HttpHandler handler)
    : implementation_(std::make_unique<Implementation>(std::move(settings), std::move(handler))) {}
HttpServer::~HttpServer() = default;
void HttpServer::start() { implementation_->start(); }
int HttpServer::port() const { return implementation_->port(); }
void HttpServer::reload_certificate() { implementation_->reload_certificate(); }
HttpCounts HttpServer::counts() const { return implementation_->counts(); }
bool HttpServer::stop(std::chrono::milliseconds within) { return implementation_->stop(within); }

}  // namespace dragoman::internal
