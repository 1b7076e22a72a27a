#include "http/beast/transport.h"

#include <utility>

namespace dragoman::internal {
namespace {

class PlainTransport : public Transport {
 public:
  explicit PlainTransport(tcp::socket socket) : socket_(std::move(socket)) {}

  void open(User user) override { user->on_open({}); }
  void read_some(char* to, size_t bytes, User user) override {
    socket_.async_read_some(asio::buffer(to, bytes), [user = std::move(user)](error_code error, size_t n) {
      user->on_read(error, n);
    });
  }
  void write_some(std::string_view bytes, User user) override {
    socket_.async_write_some(
        asio::buffer(bytes.data(), bytes.size()),
        [user = std::move(user)](error_code error, size_t n) { user->on_write(error, n); });
  }
  void wait_for_hangup(User user) override {
    socket_.async_wait(tcp::socket::wait_error, [user = std::move(user)](error_code error) {
      if (error != asio::error::operation_aborted) user->on_hangup();
    });
  }
  void end_output(User) override {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }
  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  tcp::socket socket_;
};

}  // namespace

std::unique_ptr<Transport> plain_transport(tcp::socket socket) {
  return std::make_unique<PlainTransport>(std::move(socket));
}

}  // namespace dragoman::internal
