#include "parallel/heartbeat.h"

#include <ifaddrs.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include <arpa/inet.h>
#include <netinet/tcp.h>

#include "base/error.h"
#include "base/threads.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto interval = std::chrono::seconds(1);
constexpr auto connect_timeout = std::chrono::seconds(40);
constexpr timeval io_timeout = {.tv_sec = 2, .tv_usec = 0};  // for one connection

enum class MessageType : int32_t { hello, alive, left, failed, lost };

struct Message {
  MessageType type;
  int32_t number;      // of the process that it is about
  int32_t detail = 0;  // hello: the key; lost: the reason
};

struct Peer {
  int socket = -1;
  int number = -1;
  Clock::time_point last_heard = {};
  bool left = false;
};

void send_message(const Peer& peer, const Message& message) {
  if (peer.socket >= 0) (void)!send(peer.socket, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

sockaddr_in address_of(uint32_t address, uint16_t port) {
  sockaddr_in result = {};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  result.sin_addr.s_addr = address;
  return result;
}

bool receive_hello(int socket, Message& hello) {
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &io_timeout, sizeof io_timeout);
  return recv(socket, &hello, sizeof hello, MSG_WAITALL) == sizeof hello && hello.type == MessageType::hello;
}

// Messages are short, and none may wait for the next.
void disable_buffering(int connection) {
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int connect_to(uint32_t address, uint16_t port) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &io_timeout, sizeof io_timeout);
  const sockaddr_in to = address_of(address, port);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return connection;
  close(connection);
  return -1;
}

}  // namespace

struct Heartbeat::State {
  State(int number_, int count_, std::function<void(LostProcess)> on_lost_)
      : number(number_), count(count_), on_lost(std::move(on_lost_)) {}

  const int number, count;
  const std::function<void(LostProcess)> on_lost;
  const int32_t key = static_cast<int32_t>(std::random_device()());
  int listener = -1;
  std::vector<Peer> peers;     // in the first process all others, in another one the first
  std::vector<pollfd> polled;  // of each; has its memory before the thread begins, where nothing may fail
  std::atomic<double> timeout{8};
  std::atomic<int> lost_number{-1};
  std::atomic<LostProcess::Reason> lost_reason{LostProcess::Reason::died};
  std::atomic<bool> stop{false};
  std::atomic<bool> left{false};
  std::thread thread;

  void end_with(MessageType farewell);
  void open_listener();
  void accept_all();
  void connect_to_first(const Endpoint& endpoint);
  void run();
  void receive();
  void read(Peer& peer);
  void handle(Peer& peer, const Message& message);
  void check_timeouts();
  void report_lost(LostProcess lost);
};

Heartbeat::Heartbeat(int number, int count, std::function<void(LostProcess)> on_lost)
    : state_(std::make_unique<State>(number, count, std::move(on_lost))) {
  if (number == 0) state_->open_listener();
}

Heartbeat::~Heartbeat() {
  state_->end_with(state_->left ? MessageType::left : MessageType::failed);
  for (const Peer& peer : state_->peers) close(peer.socket);
  if (state_->listener >= 0) close(state_->listener);
}

void Heartbeat::State::end_with(MessageType farewell) {
  stop = true;
  if (thread.joinable()) thread.join();
  for (const Peer& peer : peers) send_message(peer, {farewell, number});
}

void Heartbeat::leave() { state_->left = true; }
void Heartbeat::fail() { state_->end_with(MessageType::failed); }

void Heartbeat::set_timeout(double seconds) { state_->timeout = seconds; }

std::optional<LostProcess> Heartbeat::lost() const {
  const int number = state_->lost_number;
  if (number < 0) return {};
  return LostProcess{state_->lost_reason, number};
}

// --- connecting ----------------------------------------------------------------------------------

void Heartbeat::State::open_listener() {
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in any = address_of(INADDR_ANY, 0);
  if (listener < 0 || bind(listener, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      listen(listener, count) != 0) {
    throw Error("cannot open a port for the heartbeat between processes: {}", std::strerror(errno));
  }
}

Heartbeat::Endpoint Heartbeat::endpoint() const {
  Endpoint endpoint = {.key = state_->key};
  sockaddr_in own = {};
  socklen_t size = sizeof own;
  getsockname(state_->listener, reinterpret_cast<sockaddr*>(&own), &size);
  endpoint.port = ntohs(own.sin_port);
  ifaddrs* interfaces = nullptr;
  if (getifaddrs(&interfaces) != 0) return endpoint;
  for (const ifaddrs* i = interfaces; i != nullptr && endpoint.count < std::size(endpoint.addresses);
       i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET) continue;
    endpoint.addresses[endpoint.count++] = reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr.s_addr;
  }
  freeifaddrs(interfaces);
  return endpoint;
}

void Heartbeat::start(const Endpoint& first) {
  State& s = *state_;
  if (s.number == 0) {
    s.accept_all();
  } else {
    s.connect_to_first(first);
  }
  for (Peer& peer : s.peers) peer.last_heard = Clock::now();
  s.polled.reserve(s.peers.size());
  s.thread = start_thread([&s] { s.run(); });
}

void Heartbeat::State::accept_all() {
  const auto deadline = Clock::now() + connect_timeout;
  while (static_cast<int>(peers.size()) < count - 1) {
    pollfd waiting = {.fd = listener, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, 500) == 1) {
      const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      Message hello = {};
      if (receive_hello(connection, hello) && hello.detail == key) {
        disable_buffering(connection);
        peers.push_back({.socket = connection, .number = hello.number});
      } else {
        close(connection);
      }
    }
    for (const Peer& peer : peers)
      send_message(peer, {MessageType::alive, number});  // they may be waiting for a long time
    if (Clock::now() > deadline)
      throw Error("{} of {} processes cannot reach the first one by TCP: check the firewalls between them",
                  count - 1 - static_cast<int>(peers.size()), count);
  }
}

// This machine can reach some of the first one's addresses. Loopback is tried last: it would be this machine itself.
void Heartbeat::State::connect_to_first(const Endpoint& endpoint) {
  std::vector<uint32_t> addresses(endpoint.addresses, endpoint.addresses + endpoint.count);
  std::stable_partition(addresses.begin(), addresses.end(),
                        [](uint32_t a) { return (ntohl(a) >> 24) != 127; });
  for (const uint32_t address : addresses) {
    const int connection = connect_to(address, endpoint.port);
    if (connection < 0) continue;
    disable_buffering(connection);
    peers.push_back({.socket = connection, .number = 0});
    send_message(peers.back(), {MessageType::hello, number, endpoint.key});
    return;
  }
  throw Error("process {} cannot reach the first one by TCP: check the firewalls between them", number);
}

// --- monitoring ----------------------------------------------------------------------------------

// Messages are read before timeouts are checked: a process that was suspended itself finds many when it wakes.
void Heartbeat::State::run() {
  auto next = Clock::now();
  while (!stop && lost_number < 0) {
    if (Clock::now() >= next) {
      for (const Peer& peer : peers) send_message(peer, {MessageType::alive, number});
      next = Clock::now() + interval;
    }
    receive();
    check_timeouts();
  }
}

void Heartbeat::State::receive() {
  polled.clear();
  for (const Peer& peer : peers)
    polled.push_back({.fd = peer.left ? -1 : peer.socket, .events = POLLIN, .revents = 0});
  if (poll(polled.data(), polled.size(), 100) <= 0) return;
  for (size_t i = 0; i < peers.size(); ++i) {
    if (polled[i].revents != 0) read(peers[i]);
  }
}

void Heartbeat::State::read(Peer& peer) {
  Message message;
  while (!peer.left) {
    const ssize_t size = recv(peer.socket, &message, sizeof message, MSG_DONTWAIT | MSG_PEEK);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
      return report_lost({LostProcess::Reason::died, peer.number});
    if (size < static_cast<ssize_t>(sizeof message)) return;
    (void)!recv(peer.socket, &message, sizeof message, 0);
    handle(peer, message);
  }
}

void Heartbeat::State::handle(Peer& peer, const Message& message) {
  peer.last_heard = Clock::now();
  if (message.type == MessageType::left) peer.left = true;
  if (message.type == MessageType::failed) report_lost({LostProcess::Reason::failed, peer.number});
  if (message.type == MessageType::lost)
    report_lost({static_cast<LostProcess::Reason>(message.detail), message.number});
}

void Heartbeat::State::check_timeouts() {
  const auto now = Clock::now();
  for (const Peer& peer : peers) {
    if (!peer.left && std::chrono::duration<double>(now - peer.last_heard).count() > timeout)
      report_lost({LostProcess::Reason::timed_out, peer.number});
  }
}

void Heartbeat::State::report_lost(LostProcess lost) {
  if (lost_number >= 0) return;
  lost_reason = lost.reason;
  lost_number = lost.number;
  on_lost(lost);
  for (const Peer& peer : peers)
    send_message(peer, {MessageType::lost, lost.number, static_cast<int32_t>(lost.reason)});
}

}  // namespace dragoman::internal
