// A certificate of its own making, and a client that speaks TLS, for tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "http_client.h"

namespace dragoman::internal {

struct PemFiles {
  std::string certificate, key;
};

// Signed by itself, for `name`.
PemFiles write_certificate(const std::string& folder, const std::string& name);

class TlsClient {
 public:
  explicit TlsClient(int port, const std::string& protocol = "http/1.1", int newest_version = 0);
  ~TlsClient();

  bool connected() const { return connected_; }
  std::string protocol() const;     // that was agreed on
  std::string certificate() const;  // its name
  bool send(std::string_view bytes);
  std::string read_until(const std::string& end);  // or until the server closes
  void end_output();                               // with a close_notify; the connection stays
  void close();                                    // the connection, without a word

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool connected_ = false;
};

}  // namespace dragoman::internal
