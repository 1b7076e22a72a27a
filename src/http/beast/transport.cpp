#include "http/beast/transport.h"

#include <utility>

namespace dragoman::internal {
namespace {

class PlainTransport : public StreamTransport<tcp::socket> {
 public:
  using StreamTransport::StreamTransport;

  void open(User user) override { user->on_open({}); }
  void end_output(User) override { end_output_of_socket(); }
};

}  // namespace

std::unique_ptr<Transport> plain_transport(tcp::socket socket) {
  return std::make_unique<PlainTransport>(std::move(socket));
}

}  // namespace dragoman::internal
