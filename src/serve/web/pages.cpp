#include "serve/web/pages.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/checksum.h"
#include "base/json.h"
#include "dragoman/document.h"
#include "report/page.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view html = "text/html; charset=utf-8", css = "text/css; charset=utf-8",
                           javascript = "text/javascript; charset=utf-8", svg = "image/svg+xml";

struct WebFile {
  std::string_view name, type;
};

// What pages load. Nothing else of web/ is answered: the rest are templates of pages that commands write.
constexpr std::array files = {
    WebFile{"address.js", javascript},
    WebFile{"base.css", css},
    WebFile{"chart.js", javascript},
    WebFile{"choices.js", javascript},
    WebFile{"dark.css", css},
    WebFile{"differing.js", javascript},
    WebFile{"editor.js", javascript},
    WebFile{"examples.js", javascript},
    WebFile{"files.js", javascript},
    WebFile{"findings.js", javascript},
    WebFile{"history.js", javascript},
    WebFile{"icon.js", javascript},
    WebFile{"icon.svg", svg},
    WebFile{"inside.js", javascript},
    WebFile{"inspect.css", css},
    WebFile{"inspect.js", javascript},
    WebFile{"languages.js", javascript},
    WebFile{"look_inside.js", javascript},
    WebFile{"memory.js", javascript},
    WebFile{"notice.js", javascript},
    WebFile{"numbers.js", javascript},
    WebFile{"others.js", javascript},
    WebFile{"page.js", javascript},
    WebFile{"palette.css", css},
    WebFile{"positions.js", javascript},
    WebFile{"report.css", css},
    WebFile{"report.js", javascript},
    WebFile{"result.js", javascript},
    WebFile{"server.js", javascript},
    WebFile{"source_view.js", javascript},
    WebFile{"start.js", javascript},
    WebFile{"target_view.js", javascript},
    WebFile{"theme.js", javascript},
    WebFile{"training.js", javascript},
    WebFile{"translate.css", css},
    WebFile{"translate.js", javascript},
    WebFile{"typography.js", javascript},
    WebFile{"words.js", javascript},
};

constexpr std::string_view policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

// Requested again each time, so that a page never meets the scripts of another version.
HttpResponse file_answer(const IncomingRequest& request, std::string_view name, std::string_view type) {
  const std::string_view text = embedded_file(name);
  HttpResponse response = tagged_answer(request, text, entity_tag(text));
  response.type = type;
  for (const auto& [header, value] : {std::pair("Content-Security-Policy", policy),
                                      {"X-Content-Type-Options", "nosniff"},
                                      {"X-Frame-Options", "DENY"},
                                      {"Referrer-Policy", "no-referrer"},
                                      {"Cross-Origin-Opener-Policy", "same-origin"},
                                      {"Cross-Origin-Resource-Policy", "same-origin"}})
    response.headers.emplace_back(header, value);
  return response;
}

Route page_route(const char* path, const char* name, const char* summary) {
  return {.method = "GET",
          .path = path,
          .tag = "Pages",
          .summary = summary,
          .answer_type = "text/html",
          .open = true,
          .handle = [name](ServeCall call) { call.responder.send(file_answer(call.request, name, html)); }};
}

// What the page must know beyond the models (GET /v1/models).
HttpResponse settings_answer(const WebSettings& settings) {
  nlohmann::ordered_json formats = nlohmann::ordered_json::array();
  for (const dragoman::DocumentFormat& format : dragoman::document_formats())
    formats.push_back({{"description", format.description}, {"endings", format.endings}});
  const nlohmann::ordered_json body = {{"training", settings.training}, {"formats", formats}};
  return {.body = json_text(body), .headers = {{"Cache-Control", "no-cache"}}};
}

void answer_file(const ServeCall& call, const WebSettings& settings) {
  if (call.name == "settings.json") return call.responder.send(settings_answer(settings));
  const auto file = std::ranges::find(files, call.name, &WebFile::name);
  if (file == files.end()) throw ServeError(404, fmt::format("no such file: {}", call.name));
  call.responder.send(file_answer(call.request, file->name, file->type));
}

}  // namespace

std::string entity_tag(std::string_view contents) { return fmt::format("\"{}\"", checksum_of(contents)); }

HttpResponse tagged_answer(const IncomingRequest& request, std::string_view contents,
                           const std::string& tag) {
  HttpResponse response = {.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}}};
  // Proxies that compress send the tag back marked as weak.
  const std::string_view known = request.header("if-none-match");
  if (known == "*" || known.find(tag) != known.npos) {
    response.status = 304;
  } else {
    response.body = contents;
  }
  return response;
}

std::vector<Route> web_routes(const WebSettings& settings) {
  return {
      page_route("/", "translate.html", "The translation page"),
      page_route("/inspect", "look_inside.html", "The inspection of a sentence"),
      page_route("/training", "training.html", "The curves of training runs, live"),
      // Browsers ask for it before they have read which icon a page has.
      {.method = "GET",
       .path = "/favicon.ico",
       .tag = "Pages",
       .summary = "The pages' icon",
       .answer_type = std::string(svg),
       .open = true,
       .handle =
           [](const ServeCall& call) { call.responder.send(file_answer(call.request, "icon.svg", svg)); }},
      {.method = "GET",
       .path = "/web/<name>",
       .tag = "Pages",
       .summary = "A style, script or picture of the pages",
       .answer_type = "*/*",
       .errors = {404},
       .open = true,
       .handle = [settings](const ServeCall& call) { answer_file(call, settings); }}};
}

}  // namespace dragoman::internal
