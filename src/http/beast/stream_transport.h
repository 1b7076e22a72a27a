// A transport over a stream of Asio: what plain connections and those through TLS have in common.
#pragma once

#include <string_view>
#include <utility>

#include "http/beast/transport.h"

namespace dragoman::internal {

template <typename Stream>
class StreamTransport : public Transport {
 public:
  template <typename... Arguments>
  explicit StreamTransport(Arguments&&... arguments) : stream_(std::forward<Arguments>(arguments)...) {}

  void read_some(char* to, size_t bytes, User user) override {
    stream_.async_read_some(asio::buffer(to, bytes), [user = std::move(user)](error_code error, size_t n) {
      user->on_read(error, n);
    });
  }
  void write_some(std::string_view bytes, User user) override {
    stream_.async_write_some(
        asio::buffer(bytes.data(), bytes.size()),
        [user = std::move(user)](error_code error, size_t n) { user->on_write(error, n); });
  }
  void wait_for_hangup(User user) override {
    socket().async_wait(tcp::socket::wait_error, [user = std::move(user)](error_code error) {
      if (error != asio::error::operation_aborted) user->on_hangup();
    });
  }
  void close() override {
    error_code ignored;
    socket().close(ignored);
  }

 protected:
  auto& socket() { return stream_.lowest_layer(); }
  void end_output_of_socket() {
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  Stream stream_;
};

}  // namespace dragoman::internal
