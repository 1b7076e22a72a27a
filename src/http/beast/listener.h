// Listener: accepts connections on one or several addresses, and hands them to the loops in turn. Those over
// a limit are refused at once, before anything is read from them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "http/beast/loop.h"
#include "http/beast/transport.h"

namespace dragoman::internal {

class Listener {
 public:
  // Makes a connection's transport from its socket.
  using MakeTransport = std::function<std::unique_ptr<Transport>(tcp::socket)>;

  // Accepts on the thread of the first loop. An Error where the address cannot be used.
  Listener(std::vector<std::shared_ptr<Loop>> loops, const std::string& host, int port,
           MakeTransport make_transport, bool encrypted);

  void start();
  void close();  // on the first loop's thread
  int port() const;

 private:
  struct Acceptor {
    tcp::acceptor socket;
    asio::steady_timer pause;  // while the system grants no more descriptors
  };
  void bind(const tcp::endpoint& endpoint, const std::string& host);
  void accept(Acceptor& acceptor);
  void accept_next(Acceptor& acceptor, error_code error);
  void take(tcp::socket socket, const std::shared_ptr<Loop>& loop);
  void refuse(tcp::socket socket, const std::shared_ptr<Loop>& loop, OpenConnections::Verdict verdict);
  const std::shared_ptr<Loop>& next_loop();

  const std::vector<std::shared_ptr<Loop>> loops_;
  const MakeTransport make_transport_;
  const bool encrypted_;
  std::vector<Acceptor> acceptors_;
  size_t next_ = 0;
};

}  // namespace dragoman::internal
