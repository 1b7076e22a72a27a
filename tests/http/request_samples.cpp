#include "http/request_samples.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace dragoman::internal {
namespace {

std::string post(const std::string& headers, const std::string& body = "abc") {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body;
}

std::string chunked(const std::string& body) { return post("Transfer-Encoding: chunked\r\n", body); }

std::string get(const std::string& target) { return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"; }

void add_lengths(std::vector<RefusedSample>& samples) {
  for (const char* value : {"+3", "-3", "3 3", "3,3", "3, 3", "3;", "0x3", "3.0", "", "99999999999999999999",
                            "18446744073709551619", "\"3\"", "3\t3", "\xd9\xa3"})
    samples.push_back({post(fmt::format("Content-Length: {}\r\n", value))});
  samples.push_back({post("Content-Length: 3\r\nContent-Length: 3\r\n")});
  samples.push_back({post("Content-Length: 3\r\nContent-Length: 0\r\n")});
  samples.push_back({post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")});
  samples.push_back({post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n")});
  samples.push_back({post("Content-Length: 3\r\nTransfer-Encoding: identity\r\n")});
  samples.push_back({post("Content-Length : 3\r\n")});
  samples.push_back({post("Content-Length: 413\r\n", std::string(413, 'a')).replace(0, 4, "PO T"), 400});
}

void add_codings(std::vector<RefusedSample>& samples) {
  const std::string end = "0\r\n\r\n";
  for (const char* value : {"gzip", "identity", "chunked, gzip", "chunked, chunked", "gzip, chunked",
                            "xchunked", "chunkedx", "\"chunked\"", "chunked;q=1", ", chunked", "chunked,", "",
                            "\x0b"
                            "chunked",
                            "chunked\x0c", "chun ked", "cow, chunked"})
    samples.push_back({post(fmt::format("Transfer-Encoding: {}\r\n", value), end)});
  for (const char* headers : {"Transfer-Encoding : chunked\r\n", "Transfer-Encoding\t: chunked\r\n",
                              " Transfer-Encoding: chunked\r\n", "Transfer-Encoding:\r\n chunked\r\n",
                              "A: b\r\n\tTransfer-Encoding: chunked\r\n",
                              "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                              "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                              "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
                              "A: b\nTransfer-Encoding: chunked\r\n", "A: b\rTransfer-Encoding: chunked\r\n",
                              "Transfer-Encoding: chunked\n\r\n"})
    samples.push_back({post(headers, end)});
  samples.push_back({"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + end});
}

void add_chunks(std::vector<RefusedSample>& samples) {
  for (const char* body : {"3;a=b\r\nabc\r\n0\r\n\r\n",
                           "3;\r\nabc\r\n0\r\n\r\n",
                           "3 \r\nabc\r\n0\r\n\r\n",
                           " 3\r\nabc\r\n0\r\n\r\n",
                           "3;\nabc\r\n0\r\n\r\n",
                           "3;a\nb\r\nabc\r\n0\r\n\r\n",
                           "3\nabc\r\n0\r\n\r\n",
                           "3\rabc\r\n0\r\n\r\n",
                           "0x3\r\nabc\r\n0\r\n\r\n",
                           "+3\r\nabc\r\n0\r\n\r\n",
                           "-3\r\nabc\r\n0\r\n\r\n",
                           "\r\n3\r\nabc\r\n0\r\n\r\n",
                           "3\r\nabcd\r\n0\r\n\r\n",
                           "3\r\nabc\n0\r\n\r\n",
                           "3\r\nabc0\r\n\r\n",
                           "3\r\nabcXX0\r\n\r\n",
                           "g\r\nabc\r\n0\r\n\r\n",
                           "0;a\r\n\r\n",
                           "0\r\nA: b\r\n\r\n",
                           "0\r\nContent-Length: 3\r\n\r\n",
                           "0\r\nXX",
                           "0\n\n",
                           "0\r\n\n",
                           "3_0\r\nabc\r\n0\r\n\r\n"})
    samples.push_back({chunked(body)});
  samples.push_back({chunked("000000003\r\nabc\r\n0\r\n\r\n"), 413});
  samples.push_back({chunked("10000000000000003\r\nabc\r\n0\r\n\r\n"), 413});
  samples.push_back({chunked("ffffffff\r\nabc\r\n0\r\n\r\n"), 413});
  samples.push_back({chunked("ffffffffffffffff\r\nabc\r\n0\r\n\r\n"), 413});
}

void add_heads(std::vector<RefusedSample>& samples) {
  using namespace std::string_literals;
  for (const std::string& bytes : {"GET / HTTP/1.1\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a:99x\r\n\r\n"s,
                                   "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"s,
                                   "GET / HTTP/1.1\nHost: a\n\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\n\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\n\r\r\n"s,
                                   "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\nA: b\0c\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\nA\0: b\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\nA: \x7f\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\nA\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\nA b: c\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\nA(b): c\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\nHost: a\r\nA\xc3\xa9: c\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\n Host: a\r\n\r\n"s,
                                   "GET / HTTP/1.1\r\n\tA: b\r\nHost: a\r\n\r\n"s,
                                   "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"s,
                                   "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"s,
                                   " GET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
                                   "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"s,
                                   "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n"s,
                                   "GET /\r\n\r\n"s,
                                   "GET\r\n\r\n"s,
                                   "GET / http/1.1\r\nHost: a\r\n\r\n"s,
                                   "GET / HTTP/1.1x\r\nHost: a\r\n\r\n"s,
                                   "GET / HTTP/11\r\nHost: a\r\n\r\n"s,
                                   "G(T / HTTP/1.1\r\nHost: a\r\n\r\n"s,
                                   "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
                                   "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"s})
    samples.push_back({bytes});
  for (const char* version : {"HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/3.1"})
    samples.push_back({fmt::format("GET / {}\r\nHost: a\r\n\r\n", version), 505});
  samples.push_back({"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505});
  samples.push_back({post("Expect: something\r\nContent-Length: 3\r\n"), 417});
  samples.push_back({post("Connection: close, @\r\n", "")});
}

void add_targets(std::vector<RefusedSample>& samples) {
  for (const char* target :
       {"/%",        "/%2",       "/%zz",        "/%00",        "/%0a",    "/%7f",  "/%2f",
        "/a%2Fb",    "/%ff",      "/%c3",        "/%ed%a0%80",  "/%c0%af", "/\xff", "/../a",
        "/a/..",     "/a/./b",    "/.",          "/%2e%2e/a",   "/a\\b",   "/%5c",  "/#a",
        "/a?%",      "/a?b=%f",   "/a?%ff=b",    "a",           "*",       "",      "http://",
        "http:///a", "ftp://a/b", "http://u@a/", "http://a b/", "a:80",    "//%"})
    samples.push_back({get(target)});
  samples.push_back({"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"});
}

}  // namespace

std::vector<RefusedSample> refused_samples() {
  std::vector<RefusedSample> samples;
  add_lengths(samples);
  add_codings(samples);
  add_chunks(samples);
  add_heads(samples);
  add_targets(samples);
  return samples;
}

std::string random_request(Random& random) {
  const auto one_of = [&](auto... choices) {
    const std::string_view all[] = {choices...};
    return std::string(all[random.below(sizeof...(choices))]);
  };
  std::string text = one_of("GET", "POST", "HEAD", "OPTIONS", "PUT") + " " +
                     one_of("/", "/translate", "/a%20b?x=%C3%A9+1&y", "/%41/b", "http://b:8/c?d") + " ";
  const bool old = random.below(5) == 0;
  text += old ? "HTTP/1.0\r\n" : "HTTP/1.1\r\n";
  text += one_of("Host: a\r\n", "host:a.b:80\r\n", "HOST: [::1]:5000 \r\n");
  for (uint64_t n = random.below(4); n > 0; --n)
    text += one_of("A: b\r\n", "Accept:\t*/* \r\n", "X: a, b;c=\"d\"\r\n", "Connection: keep-alive\r\n",
                   "Empty:\r\n", "Connection: close\r\n", "Expect: 100-continue\r\n", "U: caf\xe9\r\n");
  std::string body;
  for (uint64_t n = random.below(200); n > 0; --n)
    body += one_of("a", "\r\n", "0\r\n\r\n", "GET / HTTP/1.1\r\n", "\xff");
  switch (random.below(old ? 2 : 3)) {
    case 0:
      return text + "\r\n";
    case 1:
      return text + fmt::format("Content-Length: {}\r\n\r\n", body.size()) + body;
    default:
      text += one_of("Transfer-Encoding: chunked\r\n\r\n", "transfer-encoding:CHUNKED\r\n\r\n");
      for (size_t at = 0, n; at < body.size(); at += n) {
        n = std::min<size_t>(body.size() - at, 1 + random.below(50));
        text += fmt::format(fmt::runtime(one_of("{:x}\r\n", "{:X}\r\n", "{:06x}\r\n")), n) +
                body.substr(at, n) + "\r\n";
      }
      return text + one_of("0\r\n\r\n", "000\r\n\r\n");
  }
}

std::string damaged_request(std::string bytes, Random& random) {
  static constexpr std::string_view pieces[] = {"\r",
                                                "\n",
                                                "\r\n",
                                                " ",
                                                "\t",
                                                ":",
                                                ";",
                                                ",",
                                                "0",
                                                "9",
                                                "a",
                                                "%",
                                                "Content-Length: 3\r\n",
                                                "Transfer-Encoding: chunked\r\n",
                                                "Host: b\r\n",
                                                "chunked",
                                                "\r\n\r\n",
                                                "0\r\n\r\n",
                                                "HTTP/1.0",
                                                ";a=b"};
  for (uint64_t n = 1 + random.below(3); n > 0; --n) {
    const size_t at = static_cast<size_t>(random.below(bytes.size() + 1));
    switch (random.below(4)) {
      case 0:
        bytes.erase(at, 1 + random.below(3));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random.below(256));
        break;
      default:
        bytes.insert(at, pieces[random.below(std::size(pieces))]);
    }
  }
  return bytes;
}

}  // namespace dragoman::internal
