#include "http/tls_client.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace dragoman::internal {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

std::string name_of(X509_NAME* name) {
  char text[256] = {};
  X509_NAME_get_text_by_NID(name, NID_commonName, text, sizeof text);
  return text;
}

}  // namespace

PemFiles write_certificate(const std::string& folder, const std::string& name) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509* const x = certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -60);
  X509_gmtime_adj(X509_getm_notAfter(x), 3600);
  X509_set_pubkey(x, key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(x, X509_get_subject_name(x));
  require(X509_sign(x, key.get(), EVP_sha256()) > 0);
  PemFiles files = {folder + "/" + name + ".crt", folder + "/" + name + ".key"};
  std::FILE* file = std::fopen(files.certificate.c_str(), "w");
  require(file != nullptr && PEM_write_X509(file, x) == 1);
  std::fclose(file);
  file = std::fopen(files.key.c_str(), "w");
  require(file != nullptr &&
          PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  std::fclose(file);
  return files;
}

struct TlsClient::State {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* ssl = SSL_new(context);
  int socket = -1;
};

TlsClient::TlsClient(int port, const std::string& protocol, int newest_version)
    : state_(std::make_unique<State>()) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  state_->socket = socket(AF_INET, SOCK_STREAM, 0);
  const timeval patience = {.tv_sec = 10, .tv_usec = 0};
  setsockopt(state_->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (connect(state_->socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
  if (newest_version != 0) {
    SSL_set_security_level(state_->ssl, 0);
    SSL_set_min_proto_version(state_->ssl, newest_version);
    SSL_set_max_proto_version(state_->ssl, newest_version);
  }
  const std::string offered = static_cast<char>(protocol.size()) + protocol;
  SSL_set_alpn_protos(state_->ssl, reinterpret_cast<const unsigned char*>(offered.data()),
                      static_cast<unsigned>(offered.size()));
  SSL_set_fd(state_->ssl, state_->socket);
  connected_ = SSL_connect(state_->ssl) == 1;
}

TlsClient::~TlsClient() {
  close();
  SSL_free(state_->ssl);
  SSL_CTX_free(state_->context);
}

std::string TlsClient::protocol() const {
  const unsigned char* text = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(state_->ssl, &text, &size);
  return {reinterpret_cast<const char*>(text), size};
}

std::string TlsClient::certificate() const {
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(state_->ssl),
                                                                X509_free);
  return certificate ? name_of(X509_get_subject_name(certificate.get())) : "";
}

bool TlsClient::send(std::string_view bytes) {
  return SSL_write(state_->ssl, bytes.data(), static_cast<int>(bytes.size())) ==
         static_cast<int>(bytes.size());
}

std::string TlsClient::read_until(const std::string& end) {
  std::string text;
  char block[16384];
  while (end.empty() || !text.ends_with(end)) {
    const int n = SSL_read(state_->ssl, block, sizeof block);
    if (n <= 0) break;
    text.append(block, static_cast<size_t>(n));
  }
  return text;
}

void TlsClient::end_output() { SSL_shutdown(state_->ssl); }

void TlsClient::close() {
  if (state_->socket >= 0) ::close(std::exchange(state_->socket, -1));
}

}  // namespace dragoman::internal
