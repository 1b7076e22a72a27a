// Load on an HTTP server from one thread, for bench_serving: clients that each wait for their answer, or arrivals at
// random at a given rate, whose latency counts from when they were due. So an overloaded server cannot slow the
// measurement down and look better for it ("coordinated omission").
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "base/random.h"

namespace dragoman::internal {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Clock = std::chrono::steady_clock;

struct LoadTarget {
  asio::ip::tcp::endpoint server;
  std::string path;
  // Of clients, 127.0.0.2 and up, where the server's is local: servers limit the connections of one address.
  int addresses = 1;
  double patience = 60;  // seconds that a client waits for an answer
};

struct LoadAnswer {
  Clock::time_point due, done;  // due: when it was sent, or should have been
  int status = 0;               // 0: no whole answer
  size_t request = 0;           // its number
  std::string body = {};

  double milliseconds() const { return std::chrono::duration<double, std::milli>(done - due).count(); }
};

// A connection that is opened when it is needed, and kept.
class LoadClient {
 public:
  LoadClient(asio::io_context& context, const LoadTarget& target, size_t number)
      : stream_(context), target_(target), number_(number) {}

  // The response's status and body; 0 if the connection failed or timed out.
  asio::awaitable<int> post(const std::string& body, std::string& answer) {
    namespace http = beast::http;
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    stream_.expires_after(
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(target_.patience)));
    if (!stream_.socket().is_open() && !co_await connect()) co_return 0;
    http::request<http::string_body> request(http::verb::post, target_.path, 11, body);
    request.set(http::field::host, "localhost");
    request.set(http::field::content_type, "application/json");
    request.prepare_payload();
    const auto written = co_await http::async_write(stream_, request, token);
    if (std::get<0>(written)) co_return drop();
    http::response_parser<http::string_body> parser;
    parser.body_limit(size_t{64} << 20);
    const auto read = co_await http::async_read(stream_, buffer_, parser, token);
    if (std::get<0>(read)) co_return drop();
    auto response = parser.release();
    if (!response.keep_alive()) drop();
    answer = std::move(response.body());
    co_return response.result_int();
  }

 private:
  asio::awaitable<bool> connect() {
    using asio::ip::tcp;
    stream_.socket().open(tcp::v4());
    if (target_.addresses > 1 && target_.server.address().is_loopback()) {
      const auto low = static_cast<unsigned>(2 + number_ % static_cast<size_t>(target_.addresses));
      stream_.socket().bind(tcp::endpoint(asio::ip::address_v4(0x7F000000U + low), 0));
    }
    const auto connected =
        co_await stream_.async_connect(target_.server, asio::as_tuple(asio::use_awaitable));
    if (std::get<0>(connected)) co_return drop() != 0;
    stream_.socket().set_option(tcp::no_delay(true));
    co_return true;
  }

  int drop() {
    beast::error_code ignored;
    stream_.socket().close(ignored);
    buffer_.clear();
    return 0;
  }

  beast::tcp_stream stream_;
  const LoadTarget& target_;
  size_t number_;
  beast::flat_buffer buffer_ = {};
};

// Runs load for some time, then until everything is answered, and keeps all answers.
class Load {
 public:
  using Body = std::function<std::string(size_t request)>;

  Load(LoadTarget target, Body body) : target_(std::move(target)), body_(std::move(body)) {}

  // Each client sends a request as soon as it has the answer to the one before.
  std::vector<LoadAnswer> closed(size_t clients, double seconds) {
    begin(seconds);
    for (size_t number = 0; number < clients; ++number)
      asio::co_spawn(context_, one_after_the_other(number), asio::detached);
    context_.run();
    return std::move(answers_);
  }

  // Requests arrive as a Poisson process, whatever becomes of those before. A request waits where all connections that
  // there may be are in use.
  std::vector<LoadAnswer> open(double rate, double seconds, size_t connections) {
    begin(seconds);
    limit_ = connections;
    asio::co_spawn(context_, arrivals(rate), asio::detached);
    context_.run();
    idle_.clear();
    return std::move(answers_);
  }

  Clock::time_point started() const { return start_; }

 private:
  void begin(double seconds) {
    context_.restart();
    answers_.clear();
    start_ = Clock::now();
    end_ = start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  asio::awaitable<int> exchange(LoadClient& client, Clock::time_point due) {
    const size_t number = sent_++;
    const std::string body = body_(number);
    std::string answer;
    const int status = co_await client.post(body, answer);
    answers_.push_back({due, Clock::now(), status, number, std::move(answer)});
    co_return status;
  }

  asio::awaitable<void> one_after_the_other(size_t number) {
    LoadClient client(context_, target_, number);
    asio::steady_timer pause(context_);
    while (Clock::now() < end_) {
      const int status = co_await exchange(client, Clock::now());
      if (status != 0) continue;
      pause.expires_after(
          std::chrono::milliseconds(20));  // a server that is not there is not asked in a loop
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }

  asio::awaitable<void> arrivals(double rate) {
    Random random(1);
    asio::steady_timer timer(context_);
    auto due = start_;
    while (true) {
      due += std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(-std::log(1 - random.uniform()) / rate));
      if (due >= end_) co_return;
      if (due > Clock::now()) {
        timer.expires_at(due);
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
      }
      waiting_.push_back(due);
      if (working_ < limit_) asio::co_spawn(context_, answer_waiting(), asio::detached);
    }
  }

  // On an idle connection or a new one, for as long as requests wait.
  asio::awaitable<void> answer_waiting() {
    if (waiting_.empty()) co_return;
    ++working_;
    if (idle_.empty()) idle_.push_back(std::make_unique<LoadClient>(context_, target_, opened_++));
    auto client = std::move(idle_.back());
    idle_.pop_back();
    while (!waiting_.empty()) {
      const auto due = waiting_.front();
      waiting_.pop_front();
      co_await exchange(*client, due);
    }
    idle_.push_back(std::move(client));
    --working_;
  }

  LoadTarget target_;
  Body body_;
  asio::io_context context_{1};
  Clock::time_point start_ = {}, end_ = {};
  std::vector<LoadAnswer> answers_ = {};
  size_t sent_ = 0;
  std::deque<Clock::time_point> waiting_ = {};
  std::vector<std::unique_ptr<LoadClient>> idle_ = {};
  size_t limit_ = 0, working_ = 0, opened_ = 0;
};

}  // namespace dragoman::internal
