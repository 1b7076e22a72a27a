#include "http/beast/connection.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/random.h"
#include "http/response_text.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t head_piece = 4 << 10, body_piece = 64 << 10;
constexpr std::chrono::seconds linger_time(1);
constexpr const char* buffers_full = "the server holds as many large requests as it can: try again later";
constexpr std::string_view continue_text = "HTTP/1.1 100 Continue\r\n\r\n";

bool fit_as_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
  });
}

}  // namespace

Connection::Connection(std::shared_ptr<Loop> loop, std::unique_ptr<Transport> transport, std::string peer,
                       std::string limit_key)
    : loop_(std::move(loop)),
      state_(loop_->state()),
      transport_(std::move(transport)),
      peer_(std::move(peer)),
      limit_key_(std::move(limit_key)),
      reader_(state_.settings.header_bytes) {}

// What one connection runs into, such as too little memory, ends only that connection.
template <class Function>
void Connection::guarded(Function function) {
  if (phase_ == Phase::closed) return;
  try {
    function();
  } catch (const std::exception&) {
    close();
  }
}

void Connection::enter(Phase phase, std::chrono::milliseconds limit) {
  phase_ = phase;
  deadline_ = Clock::now() + limit;
}

void Connection::start() {
  guarded([&] {
    loop_->add(shared_from_this());
    if (phase_ == Phase::closed) return;
    enter(Phase::opening, state_.settings.header_time);
    transport_->open(shared_from_this());
  });
}

void Connection::on_open(error_code error) {
  guarded([&] {
    if (error) return close();
    phase_ = Phase::idle;
    read();
  });
}

// --- reading ---

void Connection::read() {
  if (reading_ || input_ended_ || phase_ == Phase::closed) return;
  if (phase_ == Phase::lingering) input_.clear();
  // While a request is processed, at most one request head of pipelined input is buffered.
  if (phase_ == Phase::answering && input_.size() >= state_.settings.header_bytes) return watch();
  const size_t size = phase_ == Phase::body ? body_piece : head_piece;
  if (piece_.size() != size) piece_ = std::string(size, '\0');  // idle connections are many, and keep little
  reading_ = true;
  transport_->read_some(piece_.data(), piece_.size(), shared_from_this());
}

void Connection::on_read(error_code error, size_t bytes) {
  guarded([&] {
    reading_ = false;
    input_.append(piece_, 0, bytes);
    if (error == asio::error::eof) return end_of_input();
    if (error) return close();
    if (phase_ == Phase::answering || phase_ == Phase::lingering) return read();
    proceed();
  });
}

// End of input while a request is processed means that the client is gone, or has only shut down its sending side and
// waits for the response, as `nc -N` does. Both look the same until something is sent: an interim answer, which
// clients of HTTP/1.1 skip, is refused by the system of a client that has gone. To 1.0, and once an answer has begun,
// none can be sent: then the answer itself finds out.
void Connection::end_of_input() {
  input_ended_ = true;
  if (phase_ != Phase::answering) return close();
  if (reader_.http_1_1() && !writing_ && !answer_->begun()) write(std::string(continue_text));
  watch();
}

void Connection::watch() {
  if (!std::exchange(watching_, true)) transport_->wait_for_hangup(shared_from_this());
}

void Connection::on_hangup() {
  guarded([&] { close(); });
}

void Connection::proceed() {
  for (;;) {
    size_t taken = 0;
    const auto progress = reader_.read(input_, taken);
    input_.erase(0, taken);
    if (phase_ == Phase::body && !may_hold_body()) return refuse(own_refusal(503, buffers_full));
    if (phase_ == Phase::idle && reader_.begun()) {
      received_ = Clock::now();
      phase_ = Phase::head;
      if (!std::exchange(first_, false)) deadline_ = received_ + state_.settings.header_time;
    }
    switch (progress) {
      case RequestReader::Progress::more:
        return input_ended_ ? close() : read();
      case RequestReader::Progress::head:
        if (!admitted()) return;
        break;
      case RequestReader::Progress::whole:
        return hand_over();
      case RequestReader::Progress::refused:
        return refuse_what_was_read();
    }
  }
}

void Connection::refuse_what_was_read() {
  const auto& [status, sentence] = reader_.refusal();
  state_.count_bad_request(status);
  refuse(phase_ == Phase::body ? own_refusal(status, sentence) : error_response(status, sentence));
}

// Counts the part of the body that has arrived. False where the server holds too much.
bool Connection::may_hold_body() {
  const size_t size = reader_.request().body.size();
  const size_t counted = size - std::min(size, small_body);
  state_.buffered_bytes += counted - counted_;
  counted_ = counted;
  return counted == 0 || state_.buffered_bytes <= state_.settings.buffered_bytes;
}

void Connection::release_body() {
  state_.buffered_bytes -= std::exchange(counted_, 0);
  std::string().swap(reader_.request().body);
}

// Whether the body may come.
bool Connection::admitted() {
  IncomingRequest& request = reader_.request();
  request.peer = peer_;
  request.received = received_;
  request.id = request.header("x-request-id");
  if (!fit_as_id(request.id)) request.id = fmt::format("{:016x}", mix(state_.id_seed, ++state_.last_id));

  size_t body_bytes = state_.settings.body_bytes;
  if (auto response = refusal(body_bytes)) {
    refuse(std::move(*response));
    return false;
  }
  reader_.limit_body(body_bytes);
  if (reader_.body_follows()) {
    enter(Phase::body, state_.settings.body_time);
    if (reader_.expects_continue() && reader_.http_1_1() && input_.empty()) write(std::string(continue_text));
  }
  return true;
}

std::optional<HttpResponse> Connection::refusal(size_t& body_bytes) {
  const auto& admit = state_.handler.admit;
  if (admit) {
    try {
      if (auto response = admit(reader_.request(), body_bytes)) return response;
    } catch (const std::exception&) {
      return error_response(500, unanswered);
    }
  }
  const uint64_t length = reader_.content_length().value_or(0);
  if (length > body_bytes)
    return own_refusal(413,
                       fmt::format("the request's body has {} bytes; the limit is {}", length, body_bytes));
  if (length > small_body && state_.buffered_bytes + length - small_body > state_.settings.buffered_bytes)
    return own_refusal(503, buffers_full);
  return {};
}

// Of a request whose head is known.
HttpResponse Connection::own_refusal(int status, const std::string& sentence) {
  try {
    if (const auto& refused = state_.handler.refused) return refused(reader_.request(), status, sentence);
  } catch (const std::exception&) {
    return error_response(500, unanswered);
  }
  HttpResponse response = error_response(status, sentence);
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

// --- answering ---

void Connection::open_answer() {
  enter(Phase::answering, state_.settings.write_time);
  deadline_ = Clock::time_point::max();
  auto wake = [loop = loop_, weak = weak_from_this()] {
    asio::post(loop->context(), [weak] {
      if (const auto self = weak.lock()) self->guarded([&] { self->take_answer(); });
    });
  };
  const std::shared_ptr<ServerState> state = loop_->shared_state();
  answer_ = std::make_shared<PendingAnswer>(
      ResponseSettings{.http_1_1 = reader_.http_1_1(),
                       .keep_alive = reader_.whole() && reader_.keep_alive(),
                       .head_only = reader_.request().head_only,
                       .id = reader_.request().id,
                       .unsent_bytes = state_.settings.unsent_bytes,
                       .draining = std::shared_ptr<const std::atomic<bool>>(state, &state->draining)},
      std::move(wake));
}

void Connection::hand_over() {
  open_answer();
  ++state_.requests;
  IncomingRequest request = std::move(reader_.request());
  request.disconnected = answer_->disconnected();
  try {
    state_.handler.handle(std::move(request), PendingAnswer::responder(answer_));
  } catch (const std::exception&) {
    // The responder was destroyed with the call, and so has answered 500.
  }
  take_answer();
  read();
}

void Connection::refuse(HttpResponse response) {
  release_body();
  open_answer();
  answer_->send(std::move(response));
  take_answer();
}

void Connection::take_answer() {
  if (phase_ != Phase::answering || complete_) return;
  if (writing_) return answer_->broken() ? close() : void();
  std::string bytes;
  const PendingAnswer::State state = answer_->take(bytes);
  if (state == PendingAnswer::State::broken) return close();
  complete_ = state == PendingAnswer::State::complete;
  if (!bytes.empty()) return write(std::move(bytes));
  if (complete_) finish_request();
}

void Connection::write(std::string bytes) {
  output_ = std::move(bytes);
  written_ = 0;
  writing_ = true;
  if (phase_ == Phase::answering) deadline_ = Clock::now() + state_.settings.write_time;
  transport_->write_some(output_, shared_from_this());
}

void Connection::on_write(error_code error, size_t bytes) {
  guarded([&] {
    if (error) return close();
    written_ += bytes;
    if (phase_ == Phase::answering) deadline_ = Clock::now() + state_.settings.write_time;
    if (written_ < output_.size())
      return transport_->write_some(std::string_view(output_).substr(written_), shared_from_this());
    output_ = {};
    writing_ = false;
    if (phase_ != Phase::answering) return;
    deadline_ = Clock::time_point::max();
    if (complete_) return finish_request();
    answer_->sent_all();
    take_answer();
  });
}

void Connection::finish_request() {
  const bool keep_alive = answer_->keep_alive();
  answer_.reset();
  complete_ = false;
  release_body();
  if (!keep_alive) return linger();
  reader_.reset();
  enter(Phase::idle, state_.settings.idle_time);
  proceed();
}

// Closing the connection while the client still sends would reset it, and the answer would be lost.
void Connection::linger() {
  if (input_ended_) return close();
  enter(Phase::lingering, linger_time);
  transport_->end_output(shared_from_this());
  read();
}

// --- ending ---

void Connection::close_if_idle() {
  if (phase_ == Phase::opening || phase_ == Phase::idle || phase_ == Phase::head) close();
}

void Connection::expire() {
  guarded([&] {
    if (phase_ == Phase::head) return expire_head();
    if (phase_ == Phase::body) return refuse(own_refusal(408, "the request's body took too long"));
    close();
  });
}

void Connection::expire_head() {
  state_.count_bad_request(408);
  refuse(error_response(408, "the request's headers took too long"));
}

void Connection::close() {
  if (std::exchange(phase_, Phase::closed) == Phase::closed) return;
  release_body();
  transport_->close();
  if (answer_) {
    ++state_.gone;
    std::exchange(answer_, {})->close();
  }
  state_.connections.remove(limit_key_);
  loop_->remove(shared_from_this());
}

}  // namespace dragoman::internal
