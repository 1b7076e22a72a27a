#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/lines.h"
#include "dragoman/translator.h"
#include "fuzz/readers.h"
#include "fuzz/reading.h"
#include "http/read_in_pieces.h"
#include "memory/builder.h"
#include "serve/deepl/routes.h"
#include "serve/desk/routes.h"
#include "serve/dispatcher.h"
#include "serve/fake_server.h"
#include "serve/libretranslate/routes.h"
#include "serve/operation/routes.h"
#include "serve/secrets.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

constexpr int renewed_after = 2000;  // requests: a server keeps glossaries and files for its clients

// The response to one request, whenever and from whichever thread it comes.
class Outcome : public Responder::Sink {
 public:
  void send(HttpResponse response) override {
    begin(std::move(response));
    end();
  }
  void begin(HttpResponse head) override {
    const std::lock_guard lock(mutex_);
    response_ = std::move(head);
  }
  bool write(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    response_.body += text;
    return true;
  }
  void end() override {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_one();
  }

  HttpResponse wait() {
    std::unique_lock lock(mutex_);
    CHECK(changed_.wait_for(lock, std::chrono::seconds(15), [&] { return over_; }), "not answered");
    return response_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  HttpResponse response_ = {.status = 0};
};

// Texts are translated by a rule; scores and inspections are a small model's.
class Translating : public FakeTranslations {
 public:
  DirectTranslator direct(const std::string& from, const std::string& to) const override {
    if (from == "xx" || to == "xx") throw dragoman::Error("there is no such model", ErrorKind::usage);
    static const auto model =
        std::make_shared<dragoman::Translator>(fixture / "run", dragoman::TranslatorSettings{.threads = 1});
    return {model, "", ""};
  }
};

// A memory of one segment, in a folder that goes away with the program.
std::string memory_folder() {
  static const TemporaryFolder folder;
  static const std::string path = [] {
    MemoryBuilder builder(folder.path("m"), "en", "fr");
    builder.add({"a", "b"});
    builder.finish();
    return folder.path("m");
  }();
  return path;
}

ServeSettings settings_behind_a_proxy() {
  ServeSettings settings;
  settings.log = RequestLogFormat::off;
  settings.proxies = {"127.0.0.1", "10.0.0.0/8"};
  settings.cors = {"https://a.example"};
  settings.memories = {memory_folder()};
  settings.limits.characters = 5000;
  settings.limits.keep_megabytes = 4;
  return settings;
}

struct Server : FakeParts<Translating> {
  // OpenSSL is used first here, so that it is shut down after the threads of a server that lives until the end.
  Server() : FakeParts(settings_behind_a_proxy()) {
    random_hex(1);
    for (auto some : {v1_routes(context), libretranslate_routes(context), deepl_routes(context),
                      desk_routes(context), operation_routes(context, [](MetricsPage&) {})})
      std::ranges::move(some, std::back_inserter(routes));
    dispatcher.emplace(routes, context, cors, recorder);
  }

  Cors cors{settings.cors};
  RequestRecorder recorder{settings, metrics, cors};
  std::optional<Dispatcher> dispatcher;
  int requests = 0;
};

// Why the request was refused; empty: it was not.
std::string checked(const HttpResponse& response, std::string_view bytes) {
  CHECK(response.status >= 200 && response.status < 600, "not answered");
  const bool made_to_fail = bytes.find("fail") != bytes.npos;
  CHECK(response.status != 500 || made_to_fail, "{}", response.body);
  if (response.type == "application/json" && !response.body.empty())
    CHECK(nlohmann::json::accept(response.body), "{}", response.body);
  for (const auto& [name, value] : response.headers)
    CHECK(value.find_first_of("\r\n") == value.npos, "{}", name);
  return response.status < 400 ? "" : response.body;
}

std::string request(const std::string& head, const std::string& type, const std::string& body) {
  return head + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string form_with_file(const std::string& fields) {
  return fields +
         "--b\r\nContent-Disposition: form-data; name=\"file\"; "
         "filename=\"a.html\"\r\n\r\n<p>a</p>\r\n--b--\r\n";
}

std::string form_field(const std::string& name, const std::string& value) {
  return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
}

}  // namespace

std::string read_requests_to_routes(std::string_view bytes) {
  static auto server = std::make_unique<Server>();
  const RequestsRead read = read_at_once(bytes, 4 << 10, 64 << 10);
  std::string refusals;
  for (const auto& one : read.requests) {
    if (++server->requests % renewed_after == 0) {
      server.reset();  // first: its memory is open to add
      server = std::make_unique<Server>();
    }
    IncomingRequest incoming = one.request;
    incoming.peer = "127.0.0.1";
    incoming.received = std::chrono::steady_clock::now();
    size_t body_bytes = 0;
    if (const auto refusal = server->dispatcher->admit(incoming, body_bytes)) {
      refusals += checked(*refusal, bytes);
      continue;
    }
    const auto outcome = std::make_shared<Outcome>();
    server->dispatcher->handle(std::move(incoming), Responder(outcome));
    refusals += checked(outcome->wait(), bytes);
    server->translations.seen.clear();
  }
  return read.requests.empty() ? "no request" : refusals;
}

std::vector<std::string> seeds_of_requests_to_routes() {
  const std::string json = "application/json", form = "application/x-www-form-urlencoded",
                    parts = "multipart/form-data; boundary=b";
  return {
      request(
          "POST /v1/translate", json,
          R"({"text":["a","é <b>c</b>"],"from":"en","to":"fr","format":"text","nbest":2,"beam":4,"length-penalty":0.6,)"
          R"("alternatives":1,"glossary":[{"source":"a","target":"b"}],"alignment":true,"details":true})"),
      request("POST /v1/translate", json,
              R"({"text":"a\nb","prefix":"c","stream":true,"min-length":1,"seed":7})"),
      request("POST /v1/score", json,
              R"({"pairs":[{"source":"a dog","target":"un chien"}],"alignment":true})"),
      request("POST /v1/inspect", json, R"({"text":"a dog","target":"un chien"})"),
      request(
          "POST /translate", json,
          R"({"q":["a","b"],"source":"auto","target":"fr","format":"html","alternatives":2,"api_key":"k"})"),
      request("POST /translate", form, "q=a+b&source=en&target=fr&format=text"),
      request("POST /detect", json, R"({"q":"a"})"),
      request("POST /translate_file", parts,
              form_with_file(form_field("source", "en") + form_field("target", "fr"))),
      request(
          "POST /v2/translate", json,
          R"({"text":["<a x=\"1\">b</a> <i>c</i>"],"source_lang":"EN","target_lang":"FR","tag_handling":"xml",)"
          R"("ignore_tags":["i"],"splitting_tags":["a"],"formality":"more","preserve_formatting":true})"),
      request("POST /v2/translate", form, "text=a&text=b&target_lang=FR&split_sentences=0"),
      request("POST /v2/document", parts,
              form_with_file(form_field("source_lang", "EN") + form_field("target_lang", "FR"))),
      request(
          "POST /v2/glossaries", json,
          R"({"name":"g","source_lang":"EN","target_lang":"FR","entries":"a\tb","entries_format":"tsv"})"),
      "GET /v2/languages?type=target HTTP/1.1\r\nHost: localhost\r\nAuthorization: DeepL-Auth-Key k\r\n\r\n"
      "GET /languages HTTP/1.1\r\nHost: localhost:5000\r\nX-Forwarded-For: 8.8.8.8, ::1, 10.1.2.3\r\n\r\n"
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain;q=0.5, */*\r\nX-Request-Id: "
      "a-1\r\n\r\n",
      "GET /get?q=a&langpair=en%7Cfr HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /set?seg=a&tra=b&langpair=en%7Cfr HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /tmserver/en/fr/unit/a%2Fb?min_similarity=50 HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /api/v1/en/fr/unit/?source=a HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /v1/memories/m/export.tmx HTTP/1.1\r\nHost: localhost\r\n\r\n",
      request("POST /v3/glossaries", json,
              R"({"name":"n","dictionaries":[{"source_lang":"EN","target_lang":"FR",)"
              R"("entries":"a\tb","entries_format":"tsv"}]})"),
      request("POST /v1/memories/m/segments", json, R"({"segments":[{"source":"a","target":"b"}]})"),
      "OPTIONS /translate HTTP/1.1\r\nHost: localhost\r\nOrigin: https://a.example\r\n"
      "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n\r\n",
      "POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nX-Timeout-Ms: 1500\r\nPrefer: wait=2, x\r\n"
      "Accept: text/event-stream\r\nContent-Type: Application/JSON; charset=utf-8\r\nContent-Length: "
      "12\r\n\r\n"
      "{\"text\":\"a\"}"};
}

}  // namespace dragoman::internal
