#include "http/beast/tls.h"

#include <utility>

#include <boost/asio/ssl/stream.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509err.h>

#include "base/error.h"
#include "http/beast/transport.h"

namespace dragoman::internal {
namespace {

namespace ssl = asio::ssl;

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned int offered_size, void*) {
  static constexpr unsigned char ours[] = "\x08http/1.1";
  unsigned char* match = nullptr;
  const int result = SSL_select_next_proto(&match, size, ours, sizeof ours - 1, offered, offered_size);
  *chosen = match;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

class TlsTransport : public StreamTransport<ssl::stream<tcp::socket>> {
 public:
  TlsTransport(tcp::socket socket, TlsContext context)
      : StreamTransport(std::move(socket), *context), context_(std::move(context)) {}

  void open(User user) override {
    stream_.async_handshake(ssl::stream_base::server,
                            [user = std::move(user)](error_code error) { user->on_open(error); });
  }
  void end_output(User user) override {
    stream_.async_shutdown([this, user = std::move(user)](error_code) { end_output_of_socket(); });
  }

 private:
  const TlsContext context_;
};

}  // namespace

TlsContext tls_context(const std::string& certificate, const std::string& key) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native,
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
  // Without one OpenSSL would ask for a password at the terminal.
  context->set_password_callback([](size_t, ssl::context::password_purpose) { return std::string(); });
  error_code error;
  context->use_certificate_chain_file(certificate, error);
  if (error) throw Error("{}: cannot read the certificate: {}", certificate, error.message());
  context->use_private_key_file(key, ssl::context::pem, error);
  const int reason = ERR_GET_REASON(static_cast<unsigned long>(error.value()));
  if (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH)
    throw Error("{}: the private key does not match the certificate in {}", key, certificate);
  if (error)
    throw Error("{}: cannot read the private key: {}; it must be PEM without a password", key,
                error.message());
  return context;
}

std::unique_ptr<Transport> tls_transport(tcp::socket socket, const TlsContext& context) {
  return std::make_unique<TlsTransport>(std::move(socket), context);
}

}  // namespace dragoman::internal
