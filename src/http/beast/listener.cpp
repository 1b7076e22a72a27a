#include "http/beast/listener.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "http/address.h"
#include "http/beast/connection.h"
#include "http/pending_answer.h"
#include "http/response_text.h"

namespace dragoman::internal {
namespace {

constexpr std::chrono::seconds refusal_time(1);
constexpr std::chrono::milliseconds pause_without_descriptors(50);
constexpr int backlog = 4096;
constexpr size_t max_refusing = 1000;

asio::ip::address plain_address(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

// Sends one answer to a client that is not served, and waits for its closing, without which the answer might be lost.
class RefusedClient final : public LoopConnection, public std::enable_shared_from_this<RefusedClient> {
 public:
  RefusedClient(std::shared_ptr<Loop> loop, tcp::socket socket)
      : loop_(std::move(loop)), socket_(std::move(socket)) {
    ++loop_->state().refusing;
  }
  ~RefusedClient() override { --loop_->state().refusing; }

  void start(const std::string& text) {
    if (!socket_.is_open()) return;
    error_code error;
    socket_.non_blocking(true, error);
    socket_.send(asio::buffer(text), 0, error);  // fits into the buffer of a new socket
    socket_.shutdown(tcp::socket::shutdown_send, error);
    read();
  }
  bool late(std::chrono::steady_clock::time_point now) const override { return now >= deadline_; }
  void expire() override { close(); }
  void close_if_idle() override { close(); }
  void close() override {
    error_code ignored;
    socket_.close(ignored);
    loop_->remove(shared_from_this());
  }

 private:
  void read() {
    socket_.async_read_some(asio::buffer(dropped_), [self = shared_from_this()](error_code error, size_t) {
      error ? self->close() : self->read();
    });
  }

  const std::shared_ptr<Loop> loop_;
  const std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + refusal_time;
  tcp::socket socket_;
  std::array<char, 4096> dropped_;
};

std::string refusal_text(OpenConnections::Verdict verdict) {
  HttpResponse response =
      verdict == OpenConnections::Verdict::full
          ? error_response(503, "the server has reached its connection limit: try again later")
          : error_response(429, "too many connections from this address: close some");
  response.headers.emplace_back("Retry-After", "1");
  return response_head(response, {.keep_alive = false}) + response.body;
}

}  // namespace

Listener::Listener(std::vector<std::shared_ptr<Loop>> loops, const std::string& host, int port,
                   MakeTransport make_transport, bool encrypted)
    : loops_(std::move(loops)), make_transport_(std::move(make_transport)), encrypted_(encrypted) {
  error_code error;
  tcp::resolver resolver(loops_.front()->context());
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (error)
    throw Error("{}: cannot listen on this address ({}): use one of this machine's", host, error.message());
  for (const auto& entry : found) {
    tcp::endpoint endpoint = entry.endpoint();
    if (port == 0 && !acceptors_.empty()) endpoint.port(static_cast<uint16_t>(this->port()));
    bind(endpoint, host);
  }
  if (acceptors_.empty())
    throw Error("{}: cannot listen on this address: this machine does not have it", host);
}

void Listener::bind(const tcp::endpoint& endpoint, const std::string& host) {
  tcp::acceptor acceptor(loops_.front()->context());
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (error) return;  // a system without IPv6
  acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (endpoint.protocol() == tcp::v6())
    acceptor.set_option(asio::ip::v6_only(!endpoint.address().is_unspecified()), error);
  acceptor.bind(endpoint, error);
  if (error == asio::error::address_in_use)
    throw Error("{}:{}: the port is in use: choose another one", host, endpoint.port());
  if (error == boost::system::errc::address_not_available) return;
  if (!error) acceptor.listen(backlog, error);
  if (error) throw Error("{}:{}: cannot listen: {}", host, endpoint.port(), error.message());
  acceptors_.push_back({std::move(acceptor), asio::steady_timer(loops_.front()->context())});
}

int Listener::port() const { return acceptors_.front().socket.local_endpoint().port(); }

void Listener::start() {
  for (Acceptor& acceptor : acceptors_) accept(acceptor);
}

const std::shared_ptr<Loop>& Listener::next_loop() { return loops_[next_++ % loops_.size()]; }

void Listener::accept(Acceptor& acceptor) {
  const std::shared_ptr<Loop>& loop = next_loop();
  acceptor.socket.async_accept(loop->context(),
                               [this, &acceptor, loop](error_code error, tcp::socket socket) {
                                 if (acceptor.socket.is_open())
                                   accept_next(acceptor, error);  // first: taking this one may throw
                                 if (!error) take(std::move(socket), loop);
                               });
}

void Listener::accept_next(Acceptor& acceptor, error_code error) {
  const bool exhausted = error == asio::error::no_descriptors || error == asio::error::no_memory ||
                         error == boost::system::errc::too_many_files_open_in_system;
  if (!exhausted) return accept(acceptor);
  acceptor.pause.expires_after(pause_without_descriptors);  // the connection waits in the system's queue
  acceptor.pause.async_wait([this, &acceptor](error_code) {
    if (acceptor.socket.is_open()) accept(acceptor);
  });
}

void Listener::close() {
  error_code error;
  for (auto& [acceptor, pause] : acceptors_) {
    acceptor.non_blocking(true, error);
    // Clients that wait in the system's queue are connected already.
    for (int i = 0; i < backlog && !error; ++i) {
      const std::shared_ptr<Loop>& loop = next_loop();
      tcp::socket socket(loop->context());
      acceptor.accept(socket, error);
      try {
        if (!error) take(std::move(socket), loop);
      } catch (const std::exception& failure) {
        log_warning("a connection was dropped: {}", failure.what());
      }
    }
    acceptor.close(error);
    pause.cancel();
  }
}

void Listener::take(tcp::socket socket, const std::shared_ptr<Loop>& loop) {
  ServerState& state = loop->state();
  ++state.accepted;
  error_code error;
  const asio::ip::address address = plain_address(socket.remote_endpoint(error).address());
  if (error) return;
  socket.set_option(tcp::no_delay(true), error);
  const std::string key = network_of(address.to_string());
  const OpenConnections::Verdict verdict = state.connections.add(key);
  if (verdict != OpenConnections::Verdict::admitted) return refuse(std::move(socket), loop, verdict);
  try {
    auto connection =
        std::make_shared<Connection>(loop, make_transport_(std::move(socket)), address.to_string(), key);
    asio::post(loop->context(), [connection = std::move(connection)] { connection->start(); });
  } catch (...) {  // too little memory
    state.connections.remove(key);
    throw;
  }
}

// Refusing must stay cheap: beyond some clients, and where a handshake would be needed, no answer is sent.
void Listener::refuse(tcp::socket socket, const std::shared_ptr<Loop>& loop,
                      OpenConnections::Verdict verdict) {
  ServerState& state = loop->state();
  ++state.refused;
  if (encrypted_ || state.refusing >= max_refusing) return;
  auto client = std::make_shared<RefusedClient>(loop, std::move(socket));
  asio::post(loop->context(), [loop, client = std::move(client), text = refusal_text(verdict)] {
    loop->add(client);
    client->start(text);
  });
}

}  // namespace dragoman::internal
