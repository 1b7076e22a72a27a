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

namespace dragoman {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto beat_every = std::chrono::seconds(1);
constexpr auto time_to_connect = std::chrono::seconds(40);

enum class Word : int32_t { hello, alive, done, ended, lost };

// What goes over a connection.
struct Message {
  Word word;
  int32_t number;      // whom it is about
  int32_t detail = 0;  // of hello the key, of lost how
};

// Another process, as this one sees it.
struct Peer {
  int socket = -1;
  int number = -1;
  Clock::time_point heard = {};
  bool done = false;
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
  const timeval patience = {.tv_sec = 2, .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return recv(socket, &hello, sizeof hello, MSG_WAITALL) == sizeof hello && hello.word == Word::hello;
}

// Words are short, and none may wait for another.
void send_at_once(int connection) {
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int connect_to(uint32_t address, uint16_t port) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience = {.tv_sec = 2, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const sockaddr_in to = address_of(address, port);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return connection;
  close(connection);
  return -1;
}

}  // namespace

struct Heartbeat::State {
  State(int own_number, int all, std::function<void(Lost)> when_lost)
      : number(own_number), count(all), on_lost(std::move(when_lost)) {}

  const int number, count;
  const std::function<void(Lost)> on_lost;
  const int32_t key = static_cast<int32_t>(std::random_device()());
  int listener = -1;
  std::vector<Peer> peers;  // of the first process: all others; of another one: the first
  std::atomic<double> heartbeat_timeout{8};
  std::atomic<int> lost_number{-1};
  std::atomic<Lost::How> lost_how{Lost::How::died};
  std::atomic<bool> stop{false};
  std::atomic<bool> left{false};
  std::thread thread;

  void open_door();
  void accept_all();
  void connect_to_first(const Endpoint& endpoint);
  void beat();
  void listen_once();
  void read(Peer& peer);
  void take(Peer& peer, const Message& message);
  void judge_silence();
  void lose(Lost lost);
};

Heartbeat::Heartbeat(int number, int count, std::function<void(Lost)> on_lost)
    : state_(std::make_unique<State>(number, count, std::move(on_lost))) {
  if (number == 0) state_->open_door();
}

Heartbeat::~Heartbeat() {
  State& s = *state_;
  s.stop = true;
  if (s.thread.joinable()) s.thread.join();
  const Word word = s.left ? Word::done : Word::ended;
  for (Peer& peer : s.peers) {
    send_message(peer, {word, s.number});
    close(peer.socket);
  }
  if (s.listener >= 0) close(s.listener);
}

void Heartbeat::leave() { state_->left = true; }

void Heartbeat::set_heartbeat_timeout(double seconds) { state_->heartbeat_timeout = seconds; }

bool Heartbeat::has_lost(Lost& lost) const {
  lost.number = state_->lost_number;
  lost.how = state_->lost_how;
  return lost.number >= 0;
}

// --- connecting ----------------------------------------------------------------------------------

void Heartbeat::State::open_door() {
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in any = address_of(INADDR_ANY, 0);
  if (listener < 0 || bind(listener, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      listen(listener, count) != 0) {
    throw Error("no port can be opened for the processes' signs of life: {}", std::strerror(errno));
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
  for (Peer& peer : s.peers) peer.heard = Clock::now();
  s.thread = std::thread([&s] { s.beat(); });
}

void Heartbeat::State::accept_all() {
  const auto deadline = Clock::now() + time_to_connect;
  while (static_cast<int>(peers.size()) < count - 1) {
    pollfd waiting = {.fd = listener, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, 500) == 1) {
      const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      Message hello = {};
      if (receive_hello(connection, hello) && hello.detail == key) {
        send_at_once(connection);
        peers.push_back({.socket = connection, .number = hello.number});
      } else {
        close(connection);
      }
    }
    for (const Peer& peer : peers)
      send_message(peer, {Word::alive, number});  // they wait for the others, too
    if (Clock::now() > deadline)
      throw Error("{} of {} processes cannot reach the first one by TCP: see to firewalls between them",
                  count - 1 - static_cast<int>(peers.size()), count);
  }
}

// Of the first machine's addresses this one can reach some. The loopback's is last: it would be this machine's own.
void Heartbeat::State::connect_to_first(const Endpoint& endpoint) {
  std::vector<uint32_t> addresses(endpoint.addresses, endpoint.addresses + endpoint.count);
  std::ranges::stable_partition(addresses, [](uint32_t a) { return (ntohl(a) >> 24) != 127; });
  for (const uint32_t address : addresses) {
    const int connection = connect_to(address, endpoint.port);
    if (connection < 0) continue;
    send_at_once(connection);
    peers.push_back({.socket = connection, .number = 0});
    send_message(peers.back(), {Word::hello, number, endpoint.key});
    return;
  }
  throw Error("process {} cannot reach the first one by TCP: see to firewalls between them", number);
}

// --- beating -------------------------------------------------------------------------------------

// What has arrived is read before silence is judged: a process that was stopped itself wakes to find many words.
void Heartbeat::State::beat() {
  auto next = Clock::now();
  while (!stop && lost_number < 0) {
    if (Clock::now() >= next) {
      for (const Peer& peer : peers) send_message(peer, {Word::alive, number});
      next = Clock::now() + beat_every;
    }
    listen_once();
    judge_silence();
  }
}

void Heartbeat::State::listen_once() {
  std::vector<pollfd> waiting;
  for (const Peer& peer : peers)
    waiting.push_back({.fd = peer.done ? -1 : peer.socket, .events = POLLIN, .revents = 0});
  if (poll(waiting.data(), waiting.size(), 100) <= 0) return;
  for (size_t i = 0; i < peers.size(); ++i) {
    if (waiting[i].revents != 0) read(peers[i]);
  }
}

void Heartbeat::State::read(Peer& peer) {
  Message message;
  while (!peer.done) {
    const ssize_t size = recv(peer.socket, &message, sizeof message, MSG_DONTWAIT | MSG_PEEK);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
      return lose({Lost::How::died, peer.number});
    if (size < static_cast<ssize_t>(sizeof message)) return;
    (void)!recv(peer.socket, &message, sizeof message, 0);
    take(peer, message);
  }
}

void Heartbeat::State::take(Peer& peer, const Message& message) {
  peer.heard = Clock::now();
  if (message.word == Word::done) peer.done = true;
  if (message.word == Word::ended) lose({Lost::How::ended, peer.number});
  if (message.word == Word::lost) lose({static_cast<Lost::How>(message.detail), message.number});
}

void Heartbeat::State::judge_silence() {
  const auto now = Clock::now();
  for (const Peer& peer : peers) {
    if (!peer.done && std::chrono::duration<double>(now - peer.heard).count() > heartbeat_timeout)
      lose({Lost::How::silent, peer.number});
  }
}

void Heartbeat::State::lose(Lost lost) {
  if (lost_number >= 0) return;
  lost_how = lost.how;
  lost_number = lost.number;
  on_lost(lost);
  for (const Peer& peer : peers)
    send_message(peer, {Word::lost, lost.number, static_cast<int32_t>(lost.how)});
}

}  // namespace dragoman
