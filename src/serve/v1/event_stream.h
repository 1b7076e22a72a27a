// EventStream: server-sent events. It begins with its first event, so that what fails before has an answer of its own.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "http/message.h"

namespace dragoman::internal {

// Whether a client that sends this Accept would rather have events than one JSON document: the type is named, and no
// less liked than JSON.
bool prefers_events(std::string_view accept);

class EventStream {
 public:
  explicit EventStream(Responder responder) : responder_(std::move(responder)) {}

  // From any thread. False once the client is gone or the stream has ended. `data`: one line.
  bool send(std::string_view event, std::string_view data);
  size_t unsent() const { return responder_.unsent(); }  // bytes that wait for the client
  // The last event.
  void end(std::string_view event, std::string_view data);
  // The last event, or the answer where there was none before.
  void fail(const HttpResponse& error);

 private:
  bool write(std::string_view event, std::string_view data);

  std::mutex mutex_;
  Responder responder_;
  bool begun_ = false, ended_ = false;
};

}  // namespace dragoman::internal
