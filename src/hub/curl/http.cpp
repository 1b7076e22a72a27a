#include "hub/http.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>

#include <curl/curl.h>

#include "base/ascii.h"
#include "base/build.h"
#include "base/signals.h"

namespace dragoman::internal {
namespace {

constexpr long max_redirects = 10;
constexpr size_t max_header_bytes = 1 << 16;
constexpr size_t max_unwanted_bytes =
    1 << 16;  // a short page of an error is read, so that the connection can stay

using EasyHandle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// One transfer, as libcurl's functions see it. Nothing may be thrown through those.
class Transfer {
 public:
  Transfer(const Http::OnHead& on_head, const Http::OnData& on_data) : on_head_(on_head), on_data_(on_data) {}

  HttpHead head;
  std::exception_ptr failure;

  void take_header(std::string_view line) {
    if (line.starts_with("HTTP/")) {  // another response: of a redirect, or after it
      for (const auto& [name, value] : head.headers)
        if (name.starts_with("x-linked-")) head.linked.emplace(name, value);
      head.headers.clear();
      bytes_ = 0;
    }
    const size_t colon = line.find(':');
    if (colon == line.npos || (bytes_ += line.size()) > max_header_bytes) return;
    constexpr std::string_view blanks = " \t\r\n";
    head.headers[in_lower_case(stripped(line.substr(0, colon), blanks))] =
        stripped(line.substr(colon + 1), blanks);
  }

  // Once all headers are there: with the first data, or at the end if there are none.
  void see_head(CURL* easy) {
    if (head.status != 0) return;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    head.status = static_cast<int>(status);
    bytes_ = 0;
    unwanted_ = !on_head_(head);
  }

  void take_data(CURL* easy, std::string_view data) {
    see_head(easy);
    bytes_ += data.size();
    if (!unwanted_) on_data_(data);
  }
  bool is_over() const { return unwanted_ && bytes_ > max_unwanted_bytes; }

 private:
  const Http::OnHead& on_head_;
  const Http::OnData& on_data_;
  bool unwanted_ = false;
  size_t bytes_ = 0;  // of the headers, then of the contents
};

struct Receiver {
  Transfer* transfer;
  CURL* easy;
};

template <typename Work>
size_t guarded(Transfer& transfer, size_t taken, Work work) {
  try {
    work();
    return transfer.is_over() ? 0 : taken;
  } catch (...) {
    transfer.failure = std::current_exception();
    return 0;  // which ends the transfer
  }
}

size_t on_header_line(char* data, size_t size, size_t count, void* to) {
  Transfer& transfer = *static_cast<Receiver*>(to)->transfer;
  return guarded(transfer, size * count, [&] { transfer.take_header({data, size * count}); });
}

size_t on_contents(char* data, size_t size, size_t count, void* to) {
  const Receiver& receiver = *static_cast<Receiver*>(to);
  Transfer& transfer = *receiver.transfer;
  return guarded(transfer, size * count, [&] { transfer.take_data(receiver.easy, {data, size * count}); });
}

// A failure that another attempt would not fix.
bool is_final(CURLcode code) {
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:  // https redirected to http, too
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_OUT_OF_MEMORY:
      return true;
    default:
      return false;
  }
}

std::string reason_of(CURLcode code) {
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
      return "the address is not https or http, or redirects from https to something else";
    case CURLE_PEER_FAILED_VERIFICATION:
      return "this system does not trust the server's certificate";
    case CURLE_TOO_MANY_REDIRECTS:
      return "it redirects more than 10 times";
    case CURLE_OPERATION_TIMEDOUT:
      return "the server does not answer";
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return "the connection was cut";
    default:
      return curl_easy_strerror(code);
  }
}

// The authorities that are trusted: a libcurl that came with the program, in Python's wheel, looks where the system on
// which it was built has them.
const char* certificates() {
  const char* const own = curl_version_info(CURLVERSION_NOW)->cainfo;
  std::error_code unreadable;
  for (const char* path : {own, "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})
    if (path != nullptr && std::filesystem::exists(path, unreadable)) return path;
  return own;
}

}  // namespace

struct Http::Session {
  explicit Session(HttpTimes t) : times(t) {
    if (!multi) throw std::bad_alloc();
  }
  ~Session() { curl_multi_cleanup(multi); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  EasyHandle prepare(const HttpRequest& request, curl_slist* headers, Receiver& receiver) const;
  CURLcode perform(CURL* easy) const;

  HttpTimes times;
  CURLM* multi = curl_multi_init();  // keeps connections open between transfers
};

EasyHandle Http::Session::prepare(const HttpRequest& request, curl_slist* headers, Receiver& receiver) const {
  EasyHandle easy(curl_easy_init(), curl_easy_cleanup);
  if (!easy) throw std::bad_alloc();
  receiver.easy = easy.get();
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(easy.get(), option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_REDIR_PROTOCOLS_STR, request.url.starts_with("https:") ? "https" : "http,https");
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, max_redirects);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_CONNECTTIMEOUT, times.connect);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, times.stall);
  set(CURLOPT_HTTPHEADER, headers);
  if (const char* const trusted = certificates(); trusted != nullptr) set(CURLOPT_CAINFO, trusted);
  set(CURLOPT_USERAGENT, ("dragoman/" + std::string(version())).c_str());
  if (!request.token.empty()) {
    set(CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    set(CURLOPT_XOAUTH2_BEARER, request.token.c_str());
  }
  set(CURLOPT_HEADERFUNCTION, on_header_line);
  set(CURLOPT_HEADERDATA, &receiver);
  set(CURLOPT_WRITEFUNCTION, on_contents);
  set(CURLOPT_WRITEDATA, &receiver);
  return easy;
}

// In steps of a tenth of a second, for the sake of signals.
CURLcode Http::Session::perform(CURL* easy) const {
  struct AddedToMulti {
    CURLM* multi;
    CURL* easy;
    AddedToMulti(CURLM* m, CURL* e) : multi(m), easy(e) { curl_multi_add_handle(multi, easy); }
    ~AddedToMulti() { curl_multi_remove_handle(multi, easy); }
  } const added(multi, easy);
  for (int running = 1; running > 0;) {
    if (stop_requested()) throw Stopped(stop_requested(), "stopped");
    if (curl_multi_perform(multi, &running) != CURLM_OK) return CURLE_OUT_OF_MEMORY;
    if (running > 0) curl_multi_poll(multi, nullptr, 0, 100, nullptr);
  }
  int left = 0;
  const CURLMsg* message = curl_multi_info_read(multi, &left);
  return message ? message->data.result : CURLE_OUT_OF_MEMORY;
}

Http::Http(HttpTimes times) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) throw Error("cannot use libcurl: {}", curl_easy_strerror(started));
  session_ = std::make_unique<Session>(times);
}

Http::~Http() = default;

HttpHead Http::get(const HttpRequest& request, const OnHead& on_head, const OnData& on_data) {
  HeaderList headers(nullptr, curl_slist_free_all);
  for (const std::string& header : request.headers)
    headers.reset(curl_slist_append(headers.release(), header.c_str()));
  Transfer transfer(on_head, on_data);
  Receiver receiver{&transfer, nullptr};
  const EasyHandle easy = session_->prepare(request, headers.get(), receiver);
  const CURLcode code = session_->perform(easy.get());
  if (transfer.failure) std::rethrow_exception(transfer.failure);
  if (transfer.is_over()) return transfer.head;
  if (code != CURLE_OK) {
    const std::string reason = reason_of(code);
    if (is_final(code)) throw Error("cannot download {}: {}", request.url, reason);
    throw ConnectionError(reason);
  }
  transfer.see_head(easy.get());
  return transfer.head;
}

}  // namespace dragoman::internal
