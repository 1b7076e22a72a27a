// PendingAnswer: the answer to one request, on its way from those who give it, on any thread, to the connection, which
// sends it on its own thread. Answers become bytes as they are given. The connection is woken once there are some, and
// takes all of them. Nothing here knows of sockets, and either side may be gone before the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "http/message.h"

namespace dragoman::internal {

struct ResponseSettings {
  bool http_1_1 = true;
  bool keep_alive = true;
  bool head_only = false;  // the request was HEAD: the body is not sent
  std::string id = {};
  size_t unsent_bytes = 0;                                 // beyond which a stream takes no more
  std::shared_ptr<const std::atomic<bool>> draining = {};  // once true, no connection is kept alive
};

class PendingAnswer {
 public:
  // `wake` is called on any thread; the connection's thread is to call `take` soon.
  PendingAnswer(ResponseSettings settings, std::function<void()> wake);

  // The sink of a Responder. Without an answer by the time that its last copy goes, the answer is 500.
  static Responder responder(std::shared_ptr<PendingAnswer> answer);

  // --- any thread ---
  void send(HttpResponse response);
  void begin(HttpResponse head);
  bool write(std::string_view text);
  void end();
  size_t unsent() const;
  void abandon();  // nobody is left who could answer
  std::stop_token disconnected() const { return disconnected_.get_token(); }

  // --- the connection's thread ---
  enum class State {
    waiting,   // for more of the answer
    complete,  // all is taken
    broken,    // the answer cannot be completed: close the connection
  };
  // Replaces the bytes. Called once after the request was handed over, and then whenever woken.
  State take(std::string& bytes);
  void sent_all();          // that was taken
  bool keep_alive() const;  // once complete
  bool begun() const;
  bool broken() const;
  void close();  // the client is gone: what else is answered is dropped

 private:
  enum class Stage { unanswered, streaming, answered, broken };

  void wake(std::unique_lock<std::mutex> lock);
  bool kept_alive() const { return settings_.keep_alive && !*settings_.draining; }

  const ResponseSettings settings_;
  const std::function<void()> wake_;
  std::stop_source disconnected_;

  mutable std::mutex mutex_;
  Stage stage_ = Stage::unanswered;
  std::string bytes_;        // not yet taken
  size_t unsent_ = 0;        // these, and those taken until all of them are sent
  bool keep_alive_ = false;  // as the answer's head says
  bool until_close_ = false;
  bool woken_ = true;  // `take` is yet to come
  bool closed_ = false;
};

}  // namespace dragoman::internal
