// The routes of an API over translations that a test can predict, without a model or a network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "dragoman/document.h"
#include "serve/answers.h"
#include "serve/api_keys.h"
#include "serve/context.h"
#include "serve/documents/download_store.h"
#include "serve/limits/clients.h"
#include "serve/memories/store.h"
#include "serve/operation/metrics.h"
#include "serve/requests/body.h"
#include "serve/settings.h"
#include "serve/translations.h"
#include "serve/translations/worker_pool.h"
#include "text/unicode.h"

namespace dragoman::internal {

// Translates "a b" to "fr(a b)"; alternatives are "fr1(a b)" and so on. What has "fail" in it fails.
class FakeTranslations : public Translations {
 public:
  std::vector<TextWork> seen;
  bool at_once = true;  // else `answer_all` answers
  bool full = false;

  void reserve(std::vector<TextWork>&) override {
    if (full) throw Overloaded("the server is busy", 3);
  }

  void translate(TextWork work, std::function<void(std::future<TextResult>)> on_done) override {
    if (work.from.empty() || work.from == "auto") work.from = detect(work.text).front().language;
    seen.push_back(work);
    waiting_.emplace_back(std::move(work), std::move(on_done));
    if (at_once) answer_all();
  }

  void answer_all() {
    for (auto& [work, on_done] : std::exchange(waiting_, {})) {
      std::promise<TextResult> promise;
      try {
        if (work.on_read) work.on_read(code_point_count(work.text));
      } catch (...) {
        promise.set_exception(std::current_exception());
        on_done(promise.get_future());
        continue;
      }
      if (work.text.find("fail") != work.text.npos) {
        promise.set_exception(std::make_exception_ptr(dragoman::Error("a translation failed")));
      } else {
        promise.set_value(result_of(work));
      }
      on_done(promise.get_future());
    }
  }

  // French where there is an accent.
  std::vector<DetectedLanguage> detect(const std::string& text) const override {
    const bool french = text.find("é") != text.npos;
    return {{french ? "fr" : "en", 0.8125}, {french ? "en" : "fr", 0.1}};
  }
  std::vector<ServedPair> pairs() const override {
    return {{"de", "fr", {"en"}}, {"de", "en"}, {"en", "fr"}, {"en", "pt"}, {"en", "zh"}, {"fr", "en"}};
  }
  DirectTranslator direct(const std::string&, const std::string&) const override { return {}; }
  bool ready() const override { return true; }

 private:
  static TextResult result_of(const TextWork& work) {
    const auto text = [&](const std::string& number) { return work.to + number + "(" + work.text + ")"; };
    TextResult result = {.text = text(""), .from = work.from, .to = work.to, .detection = 0.8125};
    for (int i = 1; i <= work.alternatives; ++i) result.alternatives.push_back(text(std::to_string(i)));
    if (work.from == "de" && work.to == "fr") result.via = {"en"};
    return result;
  }

  std::vector<std::pair<TextWork, std::function<void(std::future<TextResult>)>>> waiting_;
};

// What the routes of a server share.
template <class Translations>
struct FakeParts {
  explicit FakeParts(ServeSettings given)
      : settings(std::move(given)),
        files({.bytes = static_cast<size_t>(settings.limits.keep_megabytes) << 20}),
        clients(settings.limits.requests_per_client, settings.limits.characters_per_minute) {}

  const ServeSettings settings;
  DownloadStore files;
  MemoryStore memories{settings.memories};
  Translations translations;
  ServeMetrics metrics;
  ClientLimits clients;
  ApiKeys keys{""};
  WorkerPool workers{1}, waiting{1};
  ServeContext context{translations, settings, metrics, clients, keys, workers, waiting, files, memories};
  std::vector<Route> routes;
};

// Has no routes until a test sets them, and answers in the thread that asks.
class FakeServer : public FakeParts<FakeTranslations> {
 public:
  explicit FakeServer(ServeSettings given = {}) : FakeParts(std::move(given)) {}

  // What was answered so far: of status 0, nothing.
  struct Answer : Responder::Sink {
    HttpResponse response = {.status = 0};
    void send(HttpResponse sent) override { response = std::move(sent); }
    void begin(HttpResponse head) override { response = std::move(head); }
    bool write(std::string_view text) override {
      response.body += text;
      return true;
    }
    void end() override {}
    nlohmann::json json() const { return nlohmann::json::parse(response.body, nullptr, false); }
  };

  std::shared_ptr<Answer> send(IncomingRequest request) {
    const auto answer = std::make_shared<Answer>();
    ServeCall call = {.request = std::move(request),
                      .responder = Responder(answer),
                      .client = client,
                      .deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1)};
    for (const Route& route : routes) {
      if (route.method != call.request.method || !path_matches(route.path, call.request.path, call.names))
        continue;
      if (!call.names.empty()) call.name = call.names.front();
      call.route = &route;
      try {
        check_media_type(call.request, route);
        call.body = body_properties(call.request, route);
        route.handle(call);
      } catch (...) {
        answer->send(error_answer(route.tag, std::current_exception()));
      }
      return answer;
    }
    answer->response.status = 404;
    return answer;
  }

  std::shared_ptr<Answer> get(const std::string& path) { return send({.method = "GET", .path = path}); }
  std::shared_ptr<Answer> post(const std::string& path, const nlohmann::json& body) {
    return send(with_body(path, "application/json", body.dump()));
  }
  std::shared_ptr<Answer> post_form(const std::string& path, const std::string& body) {
    return send(with_body(path, "application/x-www-form-urlencoded", body));
  }
  // Fields, and a file where its name is not empty.
  std::shared_ptr<Answer> post_file(const std::string& path,
                                    const std::vector<std::pair<std::string, std::string>>& fields,
                                    const std::string& name, const std::string& bytes) {
    std::string body;
    const auto part = [&](const std::string& disposition, const std::string& content) {
      body += "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n";
    };
    for (const auto& [field, value] : fields) part("name=\"" + field + "\"", value);
    if (!name.empty()) part("name=\"file\"; filename=\"" + name + "\"", bytes);
    return send(with_body(path, "multipart/form-data; boundary=b", body + "--b--\r\n"));
  }

  std::string client = "someone";  // that the next requests come from

 private:
  static IncomingRequest with_body(const std::string& path, const std::string& type,
                                   const std::string& body) {
    return {.method = "POST",
            .path = path,
            .headers = {{"content-type", type},
                        {"content-length", std::to_string(body.size())},
                        {"host", "here:5000"}},
            .body = body};
  }
};

}  // namespace dragoman::internal
