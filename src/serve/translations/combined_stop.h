// A stop token that is triggered with either of two others.
#pragma once

#include <stop_token>
#include <utility>

namespace dragoman::internal {

class CombinedStop {
 public:
  CombinedStop(const std::stop_token& one, const std::stop_token& other)
      : on_one_(one, Request{&source_}), on_other_(other, Request{&source_}) {}
  CombinedStop(const CombinedStop&) = delete;
  CombinedStop& operator=(const CombinedStop&) = delete;

  void request_stop() { source_.request_stop(); }
  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Request {
    std::stop_source* source;
    void operator()() const { source->request_stop(); }
  };

  std::stop_source source_;
  std::stop_callback<Request> on_one_, on_other_;
};

}  // namespace dragoman::internal
