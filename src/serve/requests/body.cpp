#include "serve/requests/body.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/json.h"
#include "base/lines.h"
#include "base/quotes.h"
#include "serve/requests/multipart.h"

namespace dragoman::internal {
namespace {

bool is_utf8(std::string_view content_type) {
  const std::string type = in_lower_case(content_type);
  const size_t charset = type.find("charset=");
  if (charset == type.npos) return true;
  const std::string_view name = std::string_view(type).substr(charset + 8);
  return name.starts_with("utf-8") || name.starts_with("\"utf-8\"") || name.starts_with("us-ascii");
}

nlohmann::json json_object(std::string_view body) {
  if (!is_text(body)) throw ServeError(400, "the body is not valid UTF-8: encode it as UTF-8");
  try {
    nlohmann::json json = parse_json(body);
    if (!json.is_object())
      throw ServeError(400, "the body is not a JSON object: send {\"name\": value, ...}");
    return json;
  } catch (const nlohmann::json::parse_error& error) {
    if (body.empty()) throw ServeError(400, "the body is empty: send a JSON object");
    throw ServeError(
        400, fmt::format("the body is not valid JSON, at byte {}: check its quotes and commas", error.byte));
  } catch (const nlohmann::json::exception&) {
    throw ServeError(400, "the body has a number that is too large: use smaller numbers");
  }
}

bool has_no_body(const IncomingRequest& head) {
  const std::string_view length = head.header("content-length");
  return (length.empty() || length == "0") && head.header("transfer-encoding").empty();
}

void add(nlohmann::json& fields, const std::string& name, std::string value) {
  if (!is_text(name) || !is_text(value))
    throw ServeError(400, "a field is not valid UTF-8: encode it as UTF-8");
  if (const auto [place, is_new] = fields.emplace(name, value); !is_new) {
    if (!place->is_array()) *place = nlohmann::json::array({std::move(*place)});
    place->push_back(std::move(value));
  }
}

}  // namespace

std::string media_type(const IncomingRequest& request) {
  const std::string_view type = request.header("content-type");
  return in_lower_case(stripped(type.substr(0, type.find(';'))));
}

void check_media_type(const IncomingRequest& head, const Route& route) {
  if (route.body_bytes == 0) return;
  const std::string type = media_type(head);
  if (type.empty() && has_no_body(head)) return;  // the handler says what it misses
  if (std::ranges::find(route.body_types, type) == route.body_types.end()) {
    throw ServeError(
        415, fmt::format("the body's Content-Type is {}: use {}", type.empty() ? "missing" : in_quotes(type),
                         fmt::join(route.body_types, " or ")));
  }
  if (!is_utf8(head.header("content-type")))
    throw ServeError(415, "the body's Content-Type names another charset: encode it as UTF-8");
}

nlohmann::json body_properties(const IncomingRequest& request, const Route& route) {
  if (route.body_bytes == 0) return nullptr;
  const std::string type = media_type(request);
  if (request.method == "GET" && request.body.empty()) return nullptr;  // though some clients name a type
  if (type == "application/json") return json_object(request.body);
  if (type == "application/x-www-form-urlencoded") return parse_urlencoded(request.body);
  if (type == "multipart/form-data") return multipart_fields(request.header("content-type"), request.body);
  return nullptr;
}

nlohmann::json parse_urlencoded(std::string_view body) {
  nlohmann::json fields = nlohmann::json::object();
  size_t count = 0;
  while (!body.empty()) {
    const size_t end = std::min(body.find('&'), body.size());
    const std::string_view field = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    if (field.empty()) continue;
    if (++count > max_form_fields)
      throw ServeError(400, fmt::format("the form has more than {} fields", max_form_fields));
    const size_t equals = std::min(field.find('='), field.size());
    add(fields, form_decoded(field.substr(0, equals)),
        form_decoded(field.substr(std::min(equals + 1, field.size()))));
  }
  return fields;
}

nlohmann::json multipart_fields(std::string_view content_type, std::string_view body) {
  nlohmann::json fields = nlohmann::json::object();
  for (const FormPart& part : parse_multipart(content_type, body)) {
    if (!part.is_file) add(fields, part.name, std::string(part.content));
  }
  return fields;
}

}  // namespace dragoman::internal
