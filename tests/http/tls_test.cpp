// TLS: certificates, versions, protocols, and that a connection through it behaves as one without.
#include <gtest/gtest.h>
#include <openssl/tls1.h>

#include "base/error.h"
#include "http/test_server.h"
#include "http/tls_client.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

const std::string get_request = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";

class Tls : public testing::Test {
 protected:
  HttpSettings settings(const PemFiles& files) {
    HttpSettings result;
    result.port = 0;
    result.certificate = files.certificate;
    result.key = files.key;
    return result;
  }
  std::string error_of(const PemFiles& files) {
    HttpServer server(settings(files), {.handle = echo});
    try {
      server.start();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const TemporaryFolder folder_;
  const PemFiles files_ = write_certificate(folder_.path(""), "one");
};

TEST_F(Tls, AnswersAndKeepsAlive) {
  TestServer server({.handle = echo}, settings(files_));
  TlsClient client(server.port());
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.protocol(), "http/1.1");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.send(get_request));
    EXPECT_TRUE(client.read_until("GET /a\n").starts_with("HTTP/1.1 200"));
  }
  ASSERT_TRUE(client.send("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(client.read_until("").ends_with("GET /\n"));  // and closes
}

TEST_F(Tls, LargeBodiesGoBothWays) {
  TestServer server(
      {.handle = [](IncomingRequest request,
                    const Responder& responder) { responder.send({.body = std::move(request.body)}); }},
      settings(files_));
  TlsClient client(server.port());
  const std::string body = std::string(3 << 20, 'a') + "end";
  ASSERT_TRUE(
      client.send(fmt::format("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.size())));
  ASSERT_TRUE(client.send(body));
  EXPECT_TRUE(client.read_until("end").ends_with(body));
}

TEST_F(Tls, RefusesOldVersionsAndOtherProtocols) {
  TestServer server({.handle = echo}, settings(files_));
  EXPECT_FALSE(TlsClient(server.port(), "http/1.1", TLS1_VERSION).connected());
  EXPECT_FALSE(TlsClient(server.port(), "http/1.1", TLS1_1_VERSION).connected());
  EXPECT_TRUE(TlsClient(server.port(), "http/1.1", TLS1_2_VERSION).connected());
  EXPECT_TRUE(TlsClient(server.port(), "http/1.1", TLS1_3_VERSION).connected());
  EXPECT_FALSE(TlsClient(server.port(), "h2").connected());
}

TEST_F(Tls, ClosesOnClientsWithoutTlsAndOnSlowHandshakes) {
  HttpSettings short_time = settings(files_);
  short_time.header_time = milliseconds(200);
  TestServer server({.handle = echo}, short_time);
  HttpClient plain = server.client(), silent = server.client();
  plain.send(get_request);
  EXPECT_TRUE(plain.closed());
  EXPECT_TRUE(silent.closed());
  EXPECT_TRUE(soon([&] { return server.counts().connections == 0; }));
}

TEST_F(Tls, NoticesThatTheClientIsGone) {
  Held held;
  TestServer server(held.handler(), settings(files_));
  TlsClient client(server.port());
  client.send(get_request);
  const auto [request, responder] = held.next();
  client.close();
  EXPECT_TRUE(soon([&request = request] { return request.disconnected.stop_requested(); }));
}

TEST_F(Tls, AnswersAClientThatOnlyEndsItsOutput) {
  Held held;
  TestServer server(held.handler(), settings(files_));
  TlsClient client(server.port());
  client.send(get_request);
  const auto [request, responder] = held.next();
  client.end_output();
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_FALSE(request.disconnected.stop_requested());
  responder.send({.body = "answer"});
  EXPECT_TRUE(client.read_until("answer").ends_with("answer"));
}

TEST_F(Tls, CertificateIsReadAnew) {
  TestServer server({.handle = echo}, settings(files_));
  TlsClient before(server.port());
  EXPECT_EQ(before.certificate(), "one");
  const PemFiles other = write_certificate(folder_.path(""), "two");
  std::filesystem::rename(other.certificate, files_.certificate);
  EXPECT_THROW(server.reload_certificate(), Error);  // the key is not its
  EXPECT_EQ(TlsClient(server.port()).certificate(), "one");
  std::filesystem::rename(other.key, files_.key);
  server.reload_certificate();
  EXPECT_EQ(TlsClient(server.port()).certificate(), "two");
  before.send(get_request);
  EXPECT_TRUE(before.read_until("GET /a\n").starts_with("HTTP/1.1 200"));
}

TEST_F(Tls, SaysWhichFileCannotBeUsed) {
  const PemFiles other = write_certificate(folder_.path(""), "two");
  EXPECT_TRUE(error_of({folder_.path("none"), files_.key})
                  .starts_with(folder_.path("none") + ": cannot read the certificate"));
  EXPECT_TRUE(error_of({files_.certificate, folder_.path("none")})
                  .starts_with(folder_.path("none") + ": cannot read the private key"));
  EXPECT_EQ(error_of({files_.certificate, other.key}),
            other.key + ": the private key does not match the certificate in " + files_.certificate);
  EXPECT_EQ(error_of(files_), "");
  EXPECT_TRUE(
      error_of({files_.certificate, ""}).starts_with(files_.certificate + ": cannot read the private key"));
  std::ofstream(files_.certificate, std::ios::app) << std::ifstream(files_.key).rdbuf();
  EXPECT_EQ(error_of({files_.certificate, ""}), "");
}

}  // namespace
}  // namespace dragoman::internal
