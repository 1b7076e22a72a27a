#include "serve/v1/event_stream.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"

namespace dragoman::internal {
namespace {

// Takes what stands before the separator, and the separator, off the text.
std::string_view take(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = stripped(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// "0.8" as thousandths; 1000 where it is not a weight.
int weight_of(std::string_view text) {
  if (text.empty() || text.size() > 5 || text.front() != '0') return 1000;
  int thousandths = 0;
  for (size_t i = 2; i < 5; ++i) {
    const char digit = i < text.size() ? text[i] : '0';
    if (!is_digit(digit)) return 1000;
    thousandths = 10 * thousandths + (digit - '0');
  }
  return thousandths;
}

}  // namespace

bool prefers_events(std::string_view accept) {
  int events = 0, json = 0;
  while (!accept.empty()) {
    std::string_view item = take(accept, ',');
    const std::string_view type = take(item, ';');
    int weight = 1000;
    while (!item.empty()) {
      const std::string_view parameter = take(item, ';');
      if (same_ignoring_case(parameter.substr(0, 2), "q=")) weight = weight_of(parameter.substr(2));
    }
    if (same_ignoring_case(type, "text/event-stream")) events = weight;
    if (same_ignoring_case(type, "application/json")) json = weight;
  }
  return events > 0 && events >= json;
}

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
