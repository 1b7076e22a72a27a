// Connection: one client's requests, each read, handed over and answered before the next is looked at. A read stays
// pending while a request is processed, so that a client that disconnects is noticed at once.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "http/beast/loop.h"
#include "http/beast/request_reader.h"
#include "http/beast/transport.h"
#include "http/pending_answer.h"

namespace dragoman::internal {

class Connection final : public LoopConnection,
                         public TransportUser,
                         public std::enable_shared_from_this<Connection> {
 public:
  // `limit_key`: what the limits count it as.
  Connection(std::shared_ptr<Loop> loop, std::unique_ptr<Transport> transport, std::string peer,
             std::string limit_key);

  void start();
  bool late(std::chrono::steady_clock::time_point now) const override { return now >= deadline_; }
  void expire() override;
  void close_if_idle() override;
  void close() override;

 private:
  enum class Phase {
    opening,  // TLS
    idle,     // no byte of a request has come
    head,
    body,
    answering,  // answer_ is under way
    lingering,  // all is sent; what still comes is dropped until the client closes
    closed,
  };

  void on_open(error_code error) override;
  void on_read(error_code error, size_t bytes) override;
  void on_write(error_code error, size_t bytes) override;
  void on_hangup() override;

  template <class Function>
  void guarded(Function function);
  void enter(Phase phase, std::chrono::milliseconds limit);
  void read();
  void proceed();
  void end_of_input();
  bool admitted();
  std::optional<HttpResponse> refusal(size_t& body_bytes);
  HttpResponse own_refusal(int status, const std::string& sentence);
  void refuse_what_was_read();
  void expire_head();
  bool may_hold_body();
  void release_body();
  void watch();
  void hand_over();
  void refuse(HttpResponse response);
  void open_answer();
  void take_answer();
  void write(std::string bytes);
  void finish_request();
  void linger();

  const std::shared_ptr<Loop> loop_;
  ServerState& state_;
  const std::unique_ptr<Transport> transport_;
  const std::string peer_, limit_key_;

  Phase phase_ = Phase::opening;
  std::chrono::steady_clock::time_point deadline_;
  std::string piece_;  // what a read that is under way fills
  std::string input_;  // read, and not yet taken
  bool reading_ = false, input_ended_ = false;
  bool watching_ = false;  // for the client's going away, where nothing is read
  RequestReader reader_;
  std::chrono::steady_clock::time_point received_ = {};
  bool first_ = true;   // the connection's first request
  size_t counted_ = 0;  // of the request's body, among all that the server holds

  std::shared_ptr<PendingAnswer> answer_;
  bool complete_ = false;  // all of the answer is in output_
  std::string output_;
  size_t written_ = 0;
  bool writing_ = false;
};

}  // namespace dragoman::internal
