#include "serve/answers.h"

#include <new>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "serve/translations.h"

namespace dragoman::internal {
namespace {

const char* kind_of(int status) {
  switch (status) {
    case 401:
    case 403:
      return "access";
    case 404:
    case 405:
      return "not_found";
    case 413:
      return "too_large";
    case 415:
      return "media_type";
    case 429:
      return "rate";
    case 503:
      return "unavailable";
    case 504:
      return "expired";
    default:
      return status < 500 ? "usage" : "failure";
  }
}

ServeError unexpected(std::string_view request, const char* cause) {
  log_warning("request {} failed: {}", request, cause);
  return ServeError(500, "the server could not answer this request: its operator finds the cause in its log");
}

ServeError by_kind(const dragoman::Error& error, std::string_view request) {
  switch (error.kind()) {
    case ErrorKind::usage:
      return ServeError(400, error.what());
    case ErrorKind::expired:
      return ServeError(504, error.what());
    case ErrorKind::cancelled:
      return ServeError(503, "the server is stopping: try again", {{"retry-after", "1"}});
    default:
      return unexpected(request, error.what());
  }
}

}  // namespace

HttpResponse json_answer(const nlohmann::ordered_json& json, int status) {
  return {.status = status, .body = json_text(json)};
}

HttpResponse error_answer(std::string_view tag, int status, const std::string& message, HttpHeaders headers) {
  nlohmann::ordered_json body;
  if (tag == "LibreTranslate") {
    body["error"] = message;
  } else if (tag == "DeepL") {
    body["message"] = message;
  } else if (tag == "MyMemory") {
    body = {{"responseData", {{"translatedText", message}}},
            {"responseDetails", message},
            {"responseStatus", status},
            {"matches", nlohmann::ordered_json::array()}};
  } else {
    body["error"] = {{"message", message}, {"kind", kind_of(status)}};
  }
  HttpResponse response = json_answer(body, status);
  response.headers = std::move(headers);
  return response;
}

HttpResponse error_answer(std::string_view tag, const std::exception_ptr& error, std::string_view request) {
  const ServeError told = client_error(error, request);
  return error_answer(tag, told.status(), told.what(), told.headers());
}

ServeError client_error(const std::exception_ptr& error, std::string_view request) {
  try {
    std::rethrow_exception(error);
  } catch (const ServeError& refusal) {
    return refusal;
  } catch (const Overloaded& busy) {
    return ServeError(503, busy.what(), {{"retry-after", std::to_string(busy.seconds())}});
  } catch (const dragoman::Error& failure) {
    return by_kind(failure, request);
  } catch (const std::bad_alloc&) {
    return ServeError(503, "the server is out of memory: try again later", {{"retry-after", "5"}});
  } catch (const std::exception& bug) {
    return unexpected(request, bug.what());
  }
}

void answer(const ServeCall& call, const std::function<HttpResponse()>& make) {
  try {
    call.responder.send(make());
  } catch (...) {
    call.responder.send(error_answer(call.route->tag, std::current_exception(), call.request.id));
  }
}

}  // namespace dragoman::internal
