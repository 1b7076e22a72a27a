// Transport: the bytes of one connection, as they are or through TLS. One read and one write may be under way at a
// time. All is done on the thread of the socket's context.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "http/beast/asio.h"

namespace dragoman::internal {

// The connection, which lives while an operation of its transport does.
class TransportUser {
 public:
  virtual void on_open(error_code error) = 0;
  virtual void on_read(error_code error, size_t bytes) = 0;
  virtual void on_write(error_code error, size_t bytes) = 0;
  virtual void on_hangup() = 0;  // the client has reset the connection

 protected:
  ~TransportUser() = default;
};

class Transport {
 public:
  using User = std::shared_ptr<TransportUser>;

  virtual ~Transport() = default;
  virtual void open(User user) = 0;
  virtual void read_some(char* to, size_t bytes, User user) = 0;
  virtual void write_some(std::string_view bytes, User user) = 0;
  virtual void wait_for_hangup(User user) = 0;
  virtual void end_output(User user) = 0;  // nothing more is written; what arrives can be read
  virtual void close() = 0;                // operations under way end with an error
};

std::unique_ptr<Transport> plain_transport(tcp::socket socket);  // without TLS

// Over a stream of Asio: what plain connections and those through TLS have in common.
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
