// Route: a method and a path, what it takes and answers, and the function that answers. The table of routes is what
// the server dispatches by and what its OpenAPI document is made of (operation/openapi.h).
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "http/message.h"

namespace dragoman::internal {

struct Route;

// A request on its way to an answer, which a handler may give later and from another thread.
struct ServeCall {
  IncomingRequest request;
  Responder responder;
  const Route* route = nullptr;
  std::string name = {};  // the first of these
  std::vector<std::string> names =
      {};                   // what stands for the parts of the path that the route has in angle brackets
  std::string client = {};  // the API key's name, else the address: what limits are counted for
  // The body's properties, of JSON or of a form (requests/body.h): valid by the route's schema unless it checks them
  // itself. Null where the body is something else.
  nlohmann::json body = {};
  std::chrono::steady_clock::time_point deadline = {};  // by when it is to be answered
};

struct Route {
  // "/translate", "/web/<name>", "/v2/document/<name>/result": no '/' in a name, unless it is the last and
  // written "<text*>": then it is the rest of the path, which is a text or a secret, and not logged.
  std::string method, path;
  std::string tag;  // "LibreTranslate", "DeepL", "Dragoman", "Operation"
  std::string summary;
  // JSON Schemas. Bodies of type application/x-www-form-urlencoded and multipart/form-data have the same properties.
  nlohmann::ordered_json body = {};  // null: no body is read
  std::vector<std::string> body_types = {"application/json"};
  nlohmann::ordered_json query = {};   // an object's properties; null: none
  nlohmann::ordered_json answer = {};  // of status 200; null: not JSON
  std::string answer_type = "application/json";
  bool streams = false;          // or answers server-sent events
  std::vector<int> errors = {};  // statuses besides 200 that it may answer, 400 and more
  size_t body_bytes = 0;         // 0: no body
  bool open = false;             // needs no API key, and counts in no limit
  bool needs_room =
      false;  // among what waits for models: refused where that is full, before its body is sent
  bool while_stopping = false;  // answered then, too: it fetches what was accepted before
  bool uses_files = false;      // reads or writes some: not on a thread that reads requests
  bool changes_data = false;    // refused to pages of other sites, unless --cors allows them
  bool own_checks = false;      // the handler checks the body, with messages that the API's clients know
  bool key_in_body =
      false;  // the API key may be the "api_key" or "auth_key" of body or query; MyMemory's: "key"
  std::function<void(ServeCall)> handle = {};
};

// Whether a path is the route's, part by part; sets what stands for each part in angle brackets.
bool path_matches(std::string_view route, std::string_view path, std::vector<std::string>& names);

// A request that cannot be answered: thrown by handlers before they return, and turned into the API's error body.
class ServeError : public std::runtime_error {
 public:
  ServeError(int status, const std::string& message, HttpHeaders headers = {})
      : std::runtime_error(message), status_(status), headers_(std::move(headers)) {}
  int status() const { return status_; }
  const HttpHeaders& headers() const { return headers_; }

 private:
  int status_;
  HttpHeaders headers_;
};

}  // namespace dragoman::internal
