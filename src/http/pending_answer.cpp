#include "http/pending_answer.h"

#include <utility>

#include "http/response_text.h"

namespace dragoman::internal {
namespace {

class AnswerSink : public Responder::Sink {
 public:
  explicit AnswerSink(std::shared_ptr<PendingAnswer> answer) : answer_(std::move(answer)) {}
  ~AnswerSink() override { answer_->abandon(); }
  void send(HttpResponse response) override { answer_->send(std::move(response)); }
  void begin(HttpResponse head) override { answer_->begin(std::move(head)); }
  bool write(std::string_view text) override { return answer_->write(text); }
  void end() override { answer_->end(); }
  size_t unsent() const override { return answer_->unsent(); }

 private:
  std::shared_ptr<PendingAnswer> answer_;
};

}  // namespace

PendingAnswer::PendingAnswer(ResponseSettings settings, std::function<void()> wake)
    : settings_(std::move(settings)), wake_(std::move(wake)) {}

Responder PendingAnswer::responder(std::shared_ptr<PendingAnswer> answer) {
  return Responder(std::make_shared<AnswerSink>(std::move(answer)));
}

void PendingAnswer::wake(std::unique_lock<std::mutex> lock) {
  if (std::exchange(woken_, true)) return;
  lock.unlock();
  wake_();
}

void PendingAnswer::send(HttpResponse response) {
  std::unique_lock lock(mutex_);
  if (closed_ || stage_ != Stage::unanswered) return;
  stage_ = Stage::answered;
  keep_alive_ = kept_alive();
  std::string head = response_head(
      response, {.http_1_1 = settings_.http_1_1, .keep_alive = keep_alive_, .id = settings_.id});
  if (settings_.head_only || response.status == 204 || response.status == 304) response.body.clear();
  bytes_ = std::move(response.body.insert(0, head));
  unsent_ = bytes_.size();
  wake(std::move(lock));
}

void PendingAnswer::begin(HttpResponse head) {
  std::unique_lock lock(mutex_);
  if (closed_ || stage_ != Stage::unanswered) return;
  stage_ = Stage::streaming;
  until_close_ = !settings_.http_1_1;
  keep_alive_ = kept_alive() && !until_close_;
  bytes_ = response_head(head, {.framing = until_close_ ? BodyFraming::until_close : BodyFraming::chunked,
                                .http_1_1 = settings_.http_1_1,
                                .keep_alive = keep_alive_,
                                .id = settings_.id});
  unsent_ = bytes_.size();
  wake(std::move(lock));
}

bool PendingAnswer::write(std::string_view text) {
  std::unique_lock lock(mutex_);
  if (closed_ || stage_ != Stage::streaming) return false;
  if (settings_.head_only) return true;
  if (unsent_ > settings_.unsent_bytes) {
    stage_ = Stage::broken;
    lock.unlock();
    wake_();  // also where the connection is busy with what it took before
    return false;
  }
  const size_t before = bytes_.size();
  if (until_close_)
    bytes_ += text;
  else
    append_chunk(bytes_, text);
  unsent_ += bytes_.size() - before;
  wake(std::move(lock));
  return true;
}

void PendingAnswer::end() {
  std::unique_lock lock(mutex_);
  if (closed_ || stage_ != Stage::streaming) return;
  stage_ = Stage::answered;
  if (!until_close_ && !settings_.head_only) bytes_ += last_chunk;
  wake(std::move(lock));
}

size_t PendingAnswer::unsent() const {
  const std::lock_guard lock(mutex_);
  return unsent_;
}

void PendingAnswer::abandon() {
  {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    if (stage_ == Stage::streaming) {  // without its last chunk the client sees that the answer is not whole
      stage_ = Stage::broken;
      lock.unlock();
      return wake_();
    }
  }
  send(error_response(500, "the request was not answered because of a server error: see the server's log"));
}

PendingAnswer::State PendingAnswer::take(std::string& bytes) {
  const std::lock_guard lock(mutex_);
  woken_ = false;
  bytes = std::exchange(bytes_, {});
  if (stage_ == Stage::broken) return State::broken;
  return stage_ == Stage::answered ? State::complete : State::waiting;
}

void PendingAnswer::sent_all() {
  const std::lock_guard lock(mutex_);
  unsent_ = bytes_.size();
}

bool PendingAnswer::keep_alive() const {
  const std::lock_guard lock(mutex_);
  return keep_alive_;
}

bool PendingAnswer::broken() const {
  const std::lock_guard lock(mutex_);
  return stage_ == Stage::broken;
}

bool PendingAnswer::begun() const {
  const std::lock_guard lock(mutex_);
  return stage_ != Stage::unanswered;
}

void PendingAnswer::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    bytes_.clear();
  }
  disconnected_.request_stop();  // what it calls may answer, and so lock the mutex
}

}  // namespace dragoman::internal
