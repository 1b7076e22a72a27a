#include "serve/event_stream.h"

#include <fmt/format.h>

namespace dragoman::internal {

bool EventStream::write(std::string_view event, std::string_view data) {
  if (ended_) return false;
  if (!begun_) {
    begun_ = true;
    // Proxies that buffer would hold back what is to be seen at once: nginx is asked not to.
    responder_.begin({.type = "text/event-stream",
                      .headers = {{"cache-control", "no-store"}, {"x-accel-buffering", "no"}}});
  }
  return responder_.write(fmt::format("event: {}\ndata: {}\n\n", event, data));
}

bool EventStream::send(std::string_view event, std::string_view data) {
  const std::lock_guard lock(mutex_);
  return write(event, data);
}

void EventStream::end(std::string_view event, std::string_view data) {
  const std::lock_guard lock(mutex_);
  write(event, data);
  if (!std::exchange(ended_, true)) responder_.end();
}

void EventStream::fail(const HttpResponse& error) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  if (begun_) {
    write("error", error.body);
    responder_.end();
  } else {
    responder_.send(error);
  }
  ended_ = true;
}

}  // namespace dragoman::internal
